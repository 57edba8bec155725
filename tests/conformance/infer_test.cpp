// Shape inference against what the reference computes: with numbers, with data, and with symbols in
// place of numbers.
#include <map>

#include "ir/infer.h"
#include "op_cases.h"

namespace tw::conformance {
namespace {

class EachCase : public testing::TestWithParam<CaseId> {};

INSTANTIATE_TEST_SUITE_P(Ops, EachCase, testing::ValuesIn(all_cases()), case_name);

/// Inferred dims that are numbers are the dims computed; symbols that stand for data (u0, u1 ...)
/// fit any.
void expect_type(const ir::TensorType& inferred, const Tensor& computed) {
  EXPECT_EQ(inferred.dtype, computed.dtype());
  ASSERT_EQ(inferred.shape.size(), computed.dims().size())
      << to_string(inferred) << " against " << computed.type_text();
  for (size_t d = 0; d < inferred.shape.size(); ++d)
    if (inferred.shape[d].is_constant()) {
      EXPECT_EQ(inferred.shape[d].constant(), computed.dims()[d])
          << to_string(inferred) << " against " << computed.type_text();
    }
}

TEST_P(EachCase, InfersTheTypesThatItsReferenceComputes) {
  const ir::OpCase c = make_or_fail(GetParam());
  const std::vector<Tensor> outputs = evaluate_or_fail(c);
  for (size_t i = 0; i < outputs.size(); ++i)
    expect_type(c.graph.value(c.graph.outputs[i]).type, outputs[i]);
}

TEST_P(EachCase, KnowsOnlyIntegersThatItsReferenceComputes) {
  const ir::OpCase given = make_or_fail(GetParam());
  const std::vector<Tensor> outputs = evaluate_or_fail(given);
  ASSERT_FALSE(outputs.empty());
  const std::vector<const Tensor*> inputs = node_inputs(given);
  ir::OpCase c = given;
  ir::Node& node = c.graph.nodes.front();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i] != nullptr) node.inputs[i] = c.graph.add_constant(cat("constant", i), *inputs[i]);
  const auto inferred = ir::infer_node(c.graph, node);
  ASSERT_TRUE(inferred.ok()) << inferred.error().message;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto& known = c.graph.value(c.graph.outputs[i]).ints;
    if (!known) continue;
    ASSERT_EQ(static_cast<int64_t>(known->size()), outputs[i].count());
    for (size_t k = 0; k < known->size(); ++k)
      EXPECT_EQ(to_string((*known)[k]), cat(outputs[i].int_at(static_cast<int64_t>(k))));
  }
}

/// The case's types with symbols for dims, and what the symbols stand for.
struct Symbolic {
  ir::Graph graph;
  std::map<std::string, int64_t, std::less<>> values;
};

/// Dims other than 1 of graph inputs become symbols: one a number when `shared`, else one each.
Symbolic with_symbols(const ir::OpCase& c, bool shared) {
  Symbolic symbolic{c.graph, {}};
  for (const ir::ValueId id : c.graph.inputs) {
    ir::Shape& shape = symbolic.graph.value(id).type.shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      const int64_t number = shape[d].constant();
      if (number == 1) continue;
      const std::string name =
          shared ? cat("n", number) : cat("d", static_cast<uint32_t>(id), "_", d);
      symbolic.values[name] = number;
      shape[d] = Dim::symbol(name);
    }
  }
  return symbolic;
}

/// The inferred dims, with each symbol replaced by its number, are those of the case; where a new
/// symbol is left there is no number to compare.
void expect_same_dims(const Symbolic& symbolic, const ir::OpCase& c) {
  const auto value_of = [&](std::string_view name) -> std::optional<int64_t> {
    const auto found = symbolic.values.find(name);
    return found == symbolic.values.end() ? std::nullopt : std::optional(found->second);
  };
  const std::vector<Tensor> outputs = evaluate_or_fail(c);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::TensorType& inferred = symbolic.graph.value(c.graph.outputs[i]).type;
    ASSERT_EQ(inferred.shape.size(), outputs[i].dims().size()) << to_string(inferred);
    for (size_t d = 0; d < inferred.shape.size(); ++d) {
      const auto number = inferred.shape[d].evaluate(value_of);
      if (number.ok()) {
        EXPECT_EQ(number.value(), outputs[i].dims()[d])
            << to_string(inferred) << " against " << outputs[i].type_text();
      }
    }
  }
}

TEST_P(EachCase, InfersTheSameDimsFromSymbols) {
  const ir::OpCase c = make_or_fail(GetParam());
  ASSERT_FALSE(c.graph.nodes.empty());
  Symbolic symbolic = with_symbols(c, true);
  const auto inferred = ir::infer_graph(symbolic.graph);
  if (!inferred.ok() && inferred.error().code == Code::kUnsupported)
    GTEST_SKIP() << inferred.error().message;
  ASSERT_TRUE(inferred.ok()) << inferred.error().message;
  expect_same_dims(symbolic, c);
}

TEST_P(EachCase, NeverInfersWrongDimsFromUnrelatedSymbols) {
  const ir::OpCase c = make_or_fail(GetParam());
  ASSERT_FALSE(c.graph.nodes.empty());
  Symbolic symbolic = with_symbols(c, false);
  const auto inferred = ir::infer_graph(symbolic.graph);
  if (!inferred.ok()) return;  // to decline is not wrong
  expect_same_dims(symbolic, c);
}

}  // namespace
}  // namespace tw::conformance
