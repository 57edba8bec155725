// What every op owes its readers and the tools that are derived from it.
#include <algorithm>
#include <filesystem>
#include <set>

#include "op_cases.h"

namespace tw::conformance {
namespace {

class EachOp : public testing::TestWithParam<const ir::OpDef*> {};

std::string op_name(const testing::TestParamInfo<const ir::OpDef*>& info) {
  return std::string(info.param->name);
}

INSTANTIATE_TEST_SUITE_P(Ops, EachOp,
                         testing::ValuesIn(ir::op_table().begin(), ir::op_table().end()), op_name);

/// Whether any input of any case of the op has a dim for which `holds` is true.
bool some_dim(const ir::OpDef& op, const std::function<bool(int64_t)>& holds) {
  for (size_t i = 0; i < op.cases.size(); ++i) {
    const ir::OpCase c = make_or_fail({&op, i});
    for (const ir::Value& value : c.graph.values)
      for (const Dim& dim : value.type.shape)
        if (dim.is_constant() && holds(dim.constant())) return true;
  }
  return false;
}

TEST_P(EachOp, StandsInAFileOfItsName) {
  bool found = false;
  for (const auto& family : std::filesystem::directory_iterator(TW_SOURCE_DIR "/src/ops")) {
    const auto path = family.path() / GetParam()->name;
    found = found || std::filesystem::exists(path.string() + ".cpp") ||
            std::filesystem::exists(path.string() + "_.cpp");
  }
  EXPECT_TRUE(found);
}

TEST_P(EachOp, SaysWhatItMeansInOneLine) {
  const std::string_view doc = GetParam()->doc;
  EXPECT_FALSE(doc.empty());
  EXPECT_EQ(doc.find('\n'), std::string_view::npos);
  EXPECT_FALSE(doc.ends_with('.') && !doc.ends_with("..")) << "a full stop";
}

TEST_P(EachOp, HasAMeaningAndAWayToRun) {
  const ir::OpDef& op = *GetParam();
  EXPECT_NE(op.infer, nullptr);
  EXPECT_TRUE(op.reference != nullptr || op.decompose != nullptr);
  EXPECT_TRUE(op.lower != nullptr || op.pointwise != nullptr || op.decompose != nullptr ||
              takes_graphs(op));
}

TEST_P(EachOp, HasCasesOfAnOddAndASmallShape) {
  const ir::OpDef& op = *GetParam();
  if (takes_graphs(op)) GTEST_SKIP() << "bodies cannot be written as text";
  EXPECT_GE(op.cases.size(), 3U);
  EXPECT_TRUE(some_dim(op, [](int64_t dim) { return dim <= 1; })) << "no dim of size 0 or 1";
  EXPECT_TRUE(some_dim(op, [](int64_t dim) { return dim > 1 && dim % 2 == 1; }))
      << "no odd dim above 1";
}

TEST_P(EachOp, SetsEveryAttributeInACase) {
  const ir::OpDef& op = *GetParam();
  if (takes_graphs(op)) GTEST_SKIP() << "bodies cannot be written as text";
  for (const ir::AttrDef& attr : op.attrs) {
    const bool is_set = std::ranges::any_of(op.cases, [&](std::string_view text) {
      const std::string marked = cat(" ", attr.name, "=");
      return text.find(marked) != std::string_view::npos;
    });
    EXPECT_TRUE(is_set) << attr.name;
  }
}

TEST_P(EachOp, NamesItsPartsOnce) {
  const ir::OpDef& op = *GetParam();
  std::set<std::string_view> names;
  for (const auto name : op.inputs) EXPECT_TRUE(names.insert(name).second) << name;
  names.clear();
  for (const auto name : op.outputs) EXPECT_TRUE(names.insert(name).second) << name;
  names.clear();
  for (const auto& attr : op.attrs) EXPECT_TRUE(names.insert(attr.name).second) << attr.name;
}

TEST(OpTable, IsOrderedByNameAndFindsEveryOp) {
  const auto table = ir::op_table();
  EXPECT_TRUE(std::ranges::is_sorted(table, {}, [](const ir::OpDef* op) { return op->name; }));
  for (const ir::OpDef* op : table) EXPECT_EQ(ir::find_op(op->name), op) << op->name;
  EXPECT_EQ(ir::find_op("no_such_op"), nullptr);
}

TEST(OpTable, GivesEachOnnxNameAndVersionToOneOp) {
  std::set<std::string> seen;
  for (const ir::OpDef* op : ir::op_table())
    for (const ir::OnnxName& entry : op->onnx)
      EXPECT_TRUE(seen.insert(cat(entry.domain, "::", entry.name, " ", entry.since)).second)
          << op->name << ": " << entry.name;
}

TEST(OpTable, TakesTheLatestFormThatAnOpsetKnows) {
  EXPECT_EQ(ir::find_onnx("", "Clip", 10).entry->since, 6);
  EXPECT_EQ(ir::find_onnx("", "Clip", 11).entry->since, 11);
  EXPECT_EQ(ir::find_onnx("", "Clip", 17).entry->since, 11);
  EXPECT_EQ(ir::find_onnx("", "Mish", 17).op, nullptr);
  EXPECT_EQ(ir::find_onnx("other.domain", "Clip", 11).op, nullptr);
}

}  // namespace
}  // namespace tw::conformance
