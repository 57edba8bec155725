// Models whose bytes are fine and whose meaning is not: nodes of every operator with inputs and
// attributes drawn at random. Import hooks and shape inference must answer each with a graph or a
// sentence. Iteration i always gives the same model.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "frontends/onnx/test_models.h"
#include "ir/op_def.h"

namespace tw::onnx {
namespace {

constexpr unsigned kSeed = 7;
constexpr int kIterations = 30000;
constexpr auto kTimeLimit = std::chrono::seconds(20);

class RandomModel {
 public:
  explicit RandomModel(unsigned seed) : random_(seed) {}

  pb::ModelProto make() {
    constexpr int kOpsets[] = {7, 9, 10, 11, 12, 13, 17, 18, 21, 23, 28};
    pb::ModelProto model = empty_model(kOpsets[below(std::size(kOpsets))]);
    pb::GraphProto& graph = *model.mutable_graph();
    add_values(graph);
    const size_t n_nodes = 1 + below(3);
    for (size_t n = 0; n < n_nodes; ++n) add_random_node(graph, n);
    add_output(graph, names_.back());
    return model;
  }

 private:
  size_t below(size_t limit) { return static_cast<size_t>(random_()) % limit; }
  bool one_in(size_t n) { return below(n) == 0; }
  int64_t number() {
    constexpr int64_t kNumbers[] = {0, 1, -1,  2,    3,         4,         -2,
                                    7, 8, 100, -100, INT32_MAX, INT64_MAX, INT64_MIN};
    return kNumbers[below(std::size(kNumbers))];
  }

  void add_values(pb::GraphProto& graph) {
    constexpr pb::TensorProto::DataType kTypes[] = {
        pb::TensorProto::FLOAT, pb::TensorProto::INT64, pb::TensorProto::BOOL,
        pb::TensorProto::INT32, pb::TensorProto::UINT8, pb::TensorProto::FLOAT16};
    for (int i = 0; i < 4; ++i) {
      std::vector<DimSpec> dims;
      const size_t rank = below(6);
      for (size_t axis = 0; axis < rank; ++axis) {
        if (one_in(4))
          dims.emplace_back("n");
        else
          dims.emplace_back(static_cast<int64_t>(below(6)));
      }
      names_.push_back(cat("x", i));
      const bool usual = !one_in(3);
      add_input(graph, names_.back(), dims, usual ? kTypes[0] : kTypes[below(std::size(kTypes))]);
    }
    for (int i = 0; i < 3; ++i) {
      std::vector<int64_t> values;
      const size_t count = below(5);
      for (size_t k = 0; k < count; ++k) values.push_back(number());
      names_.push_back(cat("c", i));
      add_ints(graph, names_.back(), values);
    }
    names_.push_back("w");
    add_weight(graph, "w", {2, static_cast<int64_t>(1 + below(4)), 3, 3});
    names_.push_back("s");
    add_weight(graph, "s", {});
  }

  void add_random_node(pb::GraphProto& graph, size_t index) {
    const ir::OpDef* op = nullptr;
    while (op == nullptr || op->onnx.empty()) op = ir::op_table()[below(ir::op_table().size())];
    const ir::OnnxName& form = op->onnx[below(op->onnx.size())];
    NodeSpec spec{std::string(form.name), {}, {}, {}, std::string(form.domain)};
    const size_t n_inputs = one_in(4) ? below(8) : std::max<size_t>(1, op->inputs.size());
    for (size_t i = 0; i < n_inputs; ++i)
      spec.inputs.push_back(one_in(8) ? "" : names_[below(names_.size())]);
    const size_t n_outputs = 1 + (one_in(3) ? below(4) : 0);
    for (size_t i = 0; i < n_outputs; ++i) spec.outputs.push_back(cat("y", index, "_", i));
    pb::NodeProto& node = add_node(graph, spec);
    for (const ir::AttrDef& attr : op->attrs)
      if (one_in(3)) add_random_attr(node, std::string(attr.name));
    constexpr const char* kOldNames[] = {"axes",   "axis",      "starts", "ends",    "pads",
                                         "to",     "k",         "split",  "dtype",   "value",
                                         "scales", "broadcast", "perm",   "keepdims"};
    if (one_in(3)) {
      const std::string name = kOldNames[below(std::size(kOldNames))];
      const auto& attrs = node.attribute();
      if (std::none_of(attrs.begin(), attrs.end(), [&](const auto& a) { return a.name() == name; }))
        add_random_attr(node, name);
    }
    names_.push_back(spec.outputs.front());
  }

  void add_random_attr(pb::NodeProto& node, const std::string& name) {
    switch (below(6)) {
      case 0:
      case 1:
        add_attr(node, name, number());
        return;
      case 2: {
        auto& attr = add_attr(node, name, 0.0F);
        attr.set_type(pb::AttributeProto::STRING);
        attr.set_s(one_in(2) ? "SAME_UPPER" : "linear");
        return;
      }
      case 3: {
        auto& attr = add_attr(node, name, 0.0F);
        attr.set_type(pb::AttributeProto::TENSOR);
        attr.mutable_t()->set_data_type(pb::TensorProto::FLOAT);
        attr.mutable_t()->add_float_data(1);
        return;
      }
      case 4:
        add_attr(node, name, 1.5F);
        return;
      default: {
        std::vector<int64_t> values;
        const size_t count = below(5);
        for (size_t k = 0; k < count; ++k) values.push_back(number());
        add_attr(node, name, values);
      }
    }
  }

  std::mt19937 random_;
  std::vector<std::string> names_;
};

TEST(RandomNodes, EveryOperatorAnswersAnything) {
  const auto start = std::chrono::steady_clock::now();
  int n_imported = 0;
  int n_done = 0;
  for (; n_done < kIterations && std::chrono::steady_clock::now() - start < kTimeLimit; ++n_done) {
    SCOPED_TRACE(n_done);
    const auto graph = import_model(RandomModel(kSeed + static_cast<unsigned>(n_done)).make());
    if (graph.ok())
      ++n_imported;
    else
      EXPECT_FALSE(graph.error().message.empty());
  }
  EXPECT_GT(n_imported, n_done / 100);
  EXPECT_LT(n_imported, n_done);
}

}  // namespace
}  // namespace tw::onnx
