// Control flow: bodies cannot be written as case text, so if, loop and scan are tested here.
#include <gtest/gtest.h>

#include "ir/evaluate.h"
#include "ir/infer.h"
#include "ir/op_def.h"

namespace tw::ops {
namespace {

using ir::ValueId;

/// A graph under construction: inputs by type, nodes by name.
struct Body {
  ir::Graph graph;
  ValueId input(DType dtype, const ir::Shape& shape) {
    ir::Value value;
    value.name = cat("in", graph.inputs.size());
    value.type = {dtype, shape};
    graph.inputs.push_back(graph.add_value(std::move(value)));
    return graph.inputs.back();
  }
  ValueId literal(const std::vector<int64_t>& values, bool scalar = false) {
    return graph.add_constant(cat("c", graph.values.size()), Tensor::from_ints(values, scalar));
  }
  std::vector<ValueId> ops(std::string_view name, std::vector<ValueId> inputs, ir::Attrs attrs,
                           size_t n_outputs) {
    ir::GraphBuilder builder(graph, graph.nodes, "n");
    auto made = builder.ops(name, std::move(inputs), std::move(attrs), n_outputs);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
    return made.ok() ? made.value() : std::vector<ValueId>(n_outputs, graph.inputs.front());
  }
  ValueId op(std::string_view name, std::vector<ValueId> inputs, ir::Attrs attrs = {}) {
    return ops(name, std::move(inputs), std::move(attrs), 1).front();
  }
  std::shared_ptr<const ir::Graph> done(std::vector<ValueId> outputs) {
    graph.outputs = std::move(outputs);
    return std::make_shared<const ir::Graph>(graph);
  }
  std::string shape_of(ValueId id) const { return to_string(graph.value(id).type); }
};

Tensor floats(const std::vector<double>& values, bool scalar = false) {
  Tensor tensor =
      Tensor::try_make(DType::kF32, scalar ? Dims{} : Dims{static_cast<int64_t>(values.size())})
          .take();
  for (size_t i = 0; i < values.size(); ++i) tensor.set_float(static_cast<int64_t>(i), values[i]);
  return tensor;
}

Tensor boolean(bool value) {
  Tensor tensor = Tensor::try_make(DType::kBool, Dims{}).take();
  tensor.set_int(0, value ? 1 : 0);
  return tensor;
}

std::vector<Tensor> run(const ir::Graph& graph, const std::vector<Tensor>& inputs) {
  auto outputs = ir::evaluate_graph(graph, inputs);
  EXPECT_TRUE(outputs.ok()) << (outputs.ok() ? "" : outputs.error().message);
  return outputs.ok() ? outputs.value() : std::vector<Tensor>();
}

std::string text(const Tensor& tensor) {
  std::string out = tensor.type_text();
  for (int64_t i = 0; i < tensor.count(); ++i) out += cat(" ", tensor.float_at(i));
  return out;
}

/// x + x in one branch, x after itself in the other.
struct Choice : Body {
  ValueId y;
  Choice() {
    Body twice, chained;
    const ValueId a = twice.input(DType::kF32, {Dim::symbol("n")});
    const auto then_branch = twice.done({twice.op("add", {a, a})});
    const ValueId b = chained.input(DType::kF32, {Dim::symbol("n")});
    const auto else_branch = chained.done({chained.op("concat", {b, b}, {{"axis", int64_t{0}}})});
    const ValueId cond = input(DType::kBool, {}), x = input(DType::kF32, {Dim::symbol("n")});
    y = op("if", {cond, x}, {{"then_branch", then_branch}, {"else_branch", else_branch}});
    graph.outputs = {y};
  }
};

TEST(If, GivesANewSymbolToASizeThatDiffersBetweenBranches) {
  const Choice choice;
  EXPECT_EQ(choice.shape_of(choice.y), "f32[u0]");
}

TEST(If, RunsTheBranchThatTheConditionNames) {
  const Choice choice;
  EXPECT_EQ(text(run(choice.graph, {boolean(true), floats({1, 2})})[0]), "f32[2] 2 4");
  EXPECT_EQ(text(run(choice.graph, {boolean(false), floats({1, 2})})[0]), "f32[4] 1 2 1 2");
}

/// Carries s' = s after x; scans s' reduced to its length plus the iteration; stops when the length
/// reaches `stop`.
struct Growth : Body {
  std::vector<ValueId> ys;
  explicit Growth(int64_t stop) {
    Body body;
    const ValueId trip = body.input(DType::kI64, {});
    body.input(DType::kBool, {});
    const ValueId s = body.input(DType::kF32, {Dim::symbol("m")}),
                  x = body.input(DType::kF32, {Dim::symbol("n")});
    const ValueId grown = body.op("concat", {s, x}, {{"axis", int64_t{0}}});
    const ValueId length = body.op("squeeze", {body.op("shape", {grown}), body.literal({0})});
    const ValueId goes_on = body.op("less", {length, body.literal({stop}, true)});
    const auto graph_of_body = body.done({goes_on, grown, body.op("add", {length, trip})});
    const ValueId limit = input(DType::kI64, {}), start = input(DType::kF32, {Dim(1)}),
                  more = input(DType::kF32, {Dim(2)});
    ys = ops("loop", {limit, ir::kNoValue, start, more},
             {{"n_carried", int64_t{1}}, {"body", graph_of_body}}, 2);
    graph.outputs = ys;
  }
};

Tensor count(int64_t value) { return Tensor::from_ints(std::vector<int64_t>{value}, true); }

TEST(Loop, GivesANewSymbolToACarriedSizeThatChanges) {
  const Growth growth(100);
  EXPECT_EQ(growth.graph.value(growth.ys[0]).type.shape.size(), 1U);
  EXPECT_TRUE(growth.graph.value(growth.ys[0]).type.shape[0].as_symbol());
  EXPECT_TRUE(growth.graph.value(growth.ys[1]).type.shape[0].as_symbol());
}

TEST(Loop, CarriesAGrowingValueAndStacksScanOutputs) {
  const std::vector<Tensor> outputs =
      run(Growth(100).graph, {count(3), floats({9}), floats({1, 2})});
  EXPECT_EQ(text(outputs[0]), "f32[7] 9 1 2 1 2 1 2");
  EXPECT_EQ(text(outputs[1]), "i64[3] 3 6 9");
}

TEST(Loop, StopsWhenTheBodysConditionFails) {
  const std::vector<Tensor> outputs =
      run(Growth(5).graph, {count(100), floats({9}), floats({1, 2})});
  EXPECT_EQ(text(outputs[0]), "f32[5] 9 1 2 1 2");
  EXPECT_EQ(text(outputs[1]), "i64[2] 3 6");
}

TEST(Loop, OfNoIterationsGivesTheStartAndEmptyScans) {
  const std::vector<Tensor> outputs =
      run(Growth(100).graph, {count(0), floats({9}), floats({1, 2})});
  EXPECT_EQ(text(outputs[0]), "f32[1] 9");
  EXPECT_EQ(text(outputs[1]), "i64[0]");
}

/// Doubles a carried vector `limit` times and scans it.
std::vector<std::string> doubling_types(const std::optional<int64_t>& limit) {
  Body body, outer;
  body.input(DType::kI64, {});
  const ValueId cond = body.input(DType::kBool, {}), s = body.input(DType::kF32, {Dim(3)});
  const ValueId twice = body.op("add", {s, s});
  const auto graph_of_body = body.done({body.op("identity", {cond}), twice, twice});
  const ValueId start = outer.input(DType::kF32, {Dim(3)});
  const ValueId trips = limit ? outer.literal({*limit}, true) : outer.input(DType::kI64, {});
  const auto ys = outer.ops("loop", {trips, ir::kNoValue, start},
                            {{"n_carried", int64_t{1}}, {"body", graph_of_body}}, 2);
  return {outer.shape_of(ys[0]), outer.shape_of(ys[1])};
}

TEST(Loop, KnowsTheSizesThatTheTripCountDetermines) {
  EXPECT_EQ(doubling_types(4), (std::vector<std::string>{"f32[3]", "f32[4,3]"}));
  EXPECT_EQ(doubling_types({}), (std::vector<std::string>{"f32[3]", "f32[u0,3]"}));
}

/// Running sums of rows, each times a captured factor.
struct RunningSums : Body {
  std::vector<ValueId> ys;
  RunningSums() {
    Body body;
    const ValueId sum = body.input(DType::kF32, {Dim(2)}), row = body.input(DType::kF32, {Dim(2)});
    const ValueId factor = body.input(DType::kF32, {});
    const ValueId next = body.op("add", {sum, row});
    const auto graph_of_body = body.done({next, body.op("mul", {next, factor})});
    const ValueId start = input(DType::kF32, {Dim(2)}),
                  rows = input(DType::kF32, {Dim::symbol("t"), Dim(2)});
    const ValueId captured = input(DType::kF32, {});
    ys = ops("scan", {start, rows, captured},
             {{"n_carried", int64_t{1}}, {"num_scan_inputs", int64_t{1}}, {"body", graph_of_body}},
             2);
    graph.outputs = ys;
  }
};

TEST(Scan, HasTheLengthOfItsInputs) {
  const RunningSums sums;
  EXPECT_EQ(sums.shape_of(sums.ys[0]), "f32[2]");
  EXPECT_EQ(sums.shape_of(sums.ys[1]), "f32[t,2]");
}

TEST(Scan, CarriesAndStacks) {
  const RunningSums sums;
  const Tensor rows = floats({1, 2, 3, 4, 5, 6}).reshaped(Dims{3, 2});
  const std::vector<Tensor> outputs = run(sums.graph, {floats({0, 10}), rows, floats({2}, true)});
  EXPECT_EQ(text(outputs[0]), "f32[2] 9 22");
  EXPECT_EQ(text(outputs[1]), "f32[3,2] 2 24 8 32 18 44");
}

TEST(Scan, OfNoElementsGivesTheStartAndEmptyScans) {
  const RunningSums sums;
  const Tensor rows = floats({}).reshaped(Dims{0, 2});
  const std::vector<Tensor> outputs = run(sums.graph, {floats({0, 10}), rows, floats({2}, true)});
  EXPECT_EQ(text(outputs[0]), "f32[2] 0 10");
  EXPECT_EQ(text(outputs[1]), "f32[0,2]");
}

}  // namespace
}  // namespace tw::ops
