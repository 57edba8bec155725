// Integer ops on values that are sizes: what is known of their outputs, as text. Exported models
// compute the operands of reshapes and expands in such subgraphs.
#include "ir/infer.h"
#include "op_cases.h"

namespace tw::conformance {
namespace {

/// What `op` makes of 1-d i64 inputs with these elements, "?" when it is not known.
std::string known_output(std::string_view op, const std::vector<std::vector<Dim>>& inputs) {
  ir::Graph graph;
  ir::Node node;
  node.op = ir::find_op(op);
  node.name = op;
  for (const std::vector<Dim>& elements : inputs) {
    ir::Value value;
    const bool is_condition = op == "where" && node.inputs.empty();
    value.type = {is_condition ? DType::kBool : DType::kI64,
                  {Dim(static_cast<int64_t>(elements.size()))}};
    value.ints = elements;
    node.inputs.push_back(graph.add_value(std::move(value)));
  }
  node.outputs.push_back(graph.add_value({}));
  const auto inferred = ir::infer_node(graph, node);
  if (!inferred.ok()) return inferred.error().message;
  const auto& known = graph.value(node.outputs.front()).ints;
  return known ? join(*known, ",") : "?";
}

const Dim kBatch = Dim::symbol("b");
const Dim kLength = Dim::symbol("s");

TEST(ShapeArithmetic, AddsSubtractsAndMultipliesExpressions) {
  EXPECT_EQ(known_output("add", {{kBatch, Dim(3)}, {Dim(1)}}), to_string(kBatch + Dim(1)) + ",4");
  EXPECT_EQ(known_output("sub", {{kLength}, {kLength}}), "0");
  EXPECT_EQ(known_output("mul", {{kBatch}, {Dim(12)}}), "12*b");
}

TEST(ShapeArithmetic, DividesTowardsZeroWhateverTheSign) {
  EXPECT_EQ(known_output("div", {{Dim(12) * kBatch, Dim(-7)}, {Dim(12), Dim(2)}}), "b,-3");
  EXPECT_EQ(known_output("div", {{kBatch}, {Dim(0)}}), "?");
  EXPECT_EQ(known_output("div", {{kLength}, {Dim(2)}}), to_string(floor_div(kLength, Dim(2))));
  EXPECT_NE(known_output("div", {{kLength - Dim(3)}, {Dim(2)}}),
            to_string(floor_div(kLength - Dim(3), Dim(2))));
}

TEST(ShapeArithmetic, ReducesAListOfSizesToTheirProduct) {
  EXPECT_EQ(known_output("reduce_prod", {{kBatch, Dim(4), Dim(3)}}), "12*b");
}

TEST(ShapeArithmetic, SettlesComparisonsOfSizesWithNegativeNumbers) {
  EXPECT_EQ(known_output("equal", {{kBatch, Dim(-1)}, {Dim(-1)}}), "0,1");
  EXPECT_EQ(known_output("less", {{kBatch}, {Dim(0)}}), "0");
  EXPECT_EQ(known_output("max", {{kBatch}, {Dim(-5)}}), "b");
  EXPECT_EQ(known_output("where", {{Dim(0), Dim(1)}, {kBatch, kBatch}, {Dim(7), Dim(7)}}), "7,b");
}

TEST(ShapeArithmetic, LeavesAnOpenComparisonAsAnExpression) {
  EXPECT_EQ(known_output("equal", {{kBatch}, {kLength}}),
            to_string(select(kBatch - kLength, Dim(0), Dim(1))));
}

}  // namespace
}  // namespace tw::conformance
