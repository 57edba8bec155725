// Sizes that only data can tell, and values that grow from iteration to iteration.
#include "graphs.h"
#include "ir/evaluate.h"

namespace tw::e2e {
namespace {

/// The elements of x [n, 4] that are not 0, as [u, 1] rows times w [1, 3]: NonZero, GatherND,
/// Reshape(-1), MatMul.
ir::Graph nonzero_chain() {
  GraphMaker g;
  const ir::ValueId x = g.input("x", DType::kF32, {Dim::symbol("n"), Dim(4)});
  const ir::ValueId where = g.op("non_zero", {x});
  const ir::ValueId rows = g.op("transpose", {where}, {{"perm", std::vector<int64_t>{1, 0}}});
  const ir::ValueId values = g.op("gather_nd", {x, rows});
  const ir::ValueId column = g.op("reshape", {values, g.b().ints({-1, 1})});
  const ir::ValueId w = g.b().constant(floats({1, 3}, {1, -2, 0.5}));
  g.graph.outputs = {g.op("matmul", {column, w})};
  return g.graph;
}

void expect_reference(const ir::Graph& graph, const std::shared_ptr<const runtime::Engine>& engine,
                      const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> wanted = value_or_fail(ir::evaluate_graph(graph, inputs));
  for (const cpu::Order order :
       {cpu::Order::kSequence, cpu::Order::kRandom, cpu::Order::kChecked}) {
    runtime::Context context(engine);
    EXPECT_TRUE(same_bits(value_or_fail(context.run(inputs, {order, 3})), wanted));
  }
}

TEST(DataDependent, NonZeroGatherReshapeMatMulFollowsTheData) {
  const ir::Graph graph = nonzero_chain();
  const auto engine = engine_for(graph);
  expect_reference(graph, engine, {floats({2, 4}, {0, 1, 0, 2, 3, 0, 0, 4})});
  expect_reference(graph, engine, {floats({3, 4}, {5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6})});
  expect_reference(graph, engine, {floats({1, 4}, {1, 2, 3, 4})});
}

TEST(DataDependent, NoRowsAtAllAreAnOrdinaryCase) {
  const ir::Graph graph = nonzero_chain();
  const auto engine = engine_for(graph);
  expect_reference(graph, engine, {floats({2, 4}, {0, 0, 0, 0, 0, 0, 0, 0})});
  expect_reference(graph, engine, {floats({0, 4}, {})});
}

/// Each iteration appends the iteration number to the carried vector: [1], [1, 0], [1, 0, 1], ...
std::shared_ptr<const ir::Graph> appending_body() {
  GraphMaker body;
  const ir::ValueId i = body.input("i", DType::kI64, {});
  const ir::ValueId condition = body.input("condition", DType::kBool, {});
  const ir::ValueId carried = body.input("carried", DType::kF32, {Dim::symbol("grows")});
  const ir::ValueId number = body.op("cast", {i}, {{"to", std::string("f32")}});
  const ir::ValueId row = body.op("unsqueeze", {number, body.b().ints({0})});
  const ir::ValueId longer = body.op("concat", {carried, row}, {{"axis", int64_t{0}}});
  body.graph.outputs = {body.op("identity", {condition}), longer, body.op("identity", {number})};
  return std::make_shared<const ir::Graph>(body.graph);
}

TEST(DataDependent, ALoopMayGrowWhatItCarries) {
  GraphMaker g;
  const ir::ValueId trips = g.input("trips", DType::kI64, {});
  const ir::ValueId start = g.input("start", DType::kF32, {Dim::symbol("n")});
  ir::Attrs attrs{{"n_carried", int64_t{1}}, {"body", appending_body()}};
  g.graph.outputs = g.ops("loop", {trips, ir::kNoValue, start}, std::move(attrs), 2);
  const auto engine = engine_for(g.graph);
  for (const int64_t count : {0, 1, 5, 20}) {
    const Tensor trip_count = Tensor::from_ints(std::vector<int64_t>{count}, true);
    expect_reference(g.graph, engine, {trip_count, floats({2}, {7, 8})});
  }
}

TEST(WithoutElements, AValueThatNoTaskWritesIsReadAndReturnedTwice) {
  GraphMaker g;
  const ir::ValueId x = g.input("x", DType::kF32, {Dim(0), Dim(3)});
  const ir::ValueId both = g.op("concat", {x, x}, {{"axis", int64_t{1}}});
  g.graph.outputs = {both, both, g.op("relu", {both})};
  expect_reference(g.graph, engine_for(g.graph), {floats({0, 3}, {})});
}

TEST(WithoutElements, AValueThatNoTaskWritesIsReadByTheHost) {
  GraphMaker body;
  const ir::ValueId inner = body.input("captured", DType::kF32, {Dim(0), Dim(6)});
  body.graph.outputs = {body.op("relu", {inner})};
  const auto branch = std::make_shared<const ir::Graph>(body.graph);
  GraphMaker g;
  const ir::ValueId condition = g.input("condition", DType::kBool, {});
  const ir::ValueId x = g.input("x", DType::kF32, {Dim(0), Dim(3)});
  const ir::ValueId both = g.op("concat", {x, x}, {{"axis", int64_t{1}}});
  g.graph.outputs = {
      g.op("if", {condition, both}, {{"then_branch", branch}, {"else_branch", branch}})};
  Tensor yes = value_or_fail(Tensor::try_make(DType::kBool, {}));
  yes.set_int(0, 1);
  expect_reference(g.graph, engine_for(g.graph), {yes, floats({0, 3}, {})});
}

TEST(DataDependent, ASizeThatFoldingMakesKnownIsKnownToWhatFollows) {
  GraphMaker g;
  const ir::ValueId x = g.input("x", DType::kF32, {Dim(3), Dim(2)});
  const ir::ValueId limits = g.b().constant(floats({3}, {1, -1, 1}));
  const ir::ValueId keep = g.op("greater", {limits, g.b().scalar(DType::kF32, 0)});
  g.graph.outputs = {g.op("compress", {x, keep}, {{"axis", int64_t{0}}})};
  expect_reference(g.graph, engine_for(g.graph), {floats({3, 2}, {1, 2, 3, 4, 5, 6})});
}

TEST(DataDependent, AShortListStandsBesideAnOpenSizeThatOnlyOneNumberFits) {
  GraphMaker g;
  const ir::ValueId x = g.input("x", DType::kF32, {Dim(2), Dim::symbol("n")});
  const ir::ValueId one = g.input("one", DType::kF32, {Dim(1)});
  const ir::ValueId w = g.b().constant(floats({4, 1}, {1, 2, 3, 4}));
  const ir::ValueId keep = g.op("greater", {one, g.b().scalar(DType::kF32, 0)});
  g.graph.outputs = {g.op("matmul", {x, w}), g.op("compress", {one, keep})};
  expect_reference(g.graph, engine_for(g.graph),
                   {floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), floats({1}, {1})});
}

TEST(Views, AStepThatFitsNoOtherStrideLeavesTheWholeProvable) {
  GraphMaker g;
  const ir::ValueId x = g.input("x", DType::kF32, {Dim(2), Dim(3)});
  const ir::ValueId y = g.op("relu", {x});
  const auto one = [&](int64_t number) { return g.b().ints({number}); };
  g.graph.outputs = {y, g.op("slice", {y, one(-1), one(-9), one(1), one(-2)})};
  expect_reference(g.graph, engine_for(g.graph), {floats({2, 3}, {1, 2, 3, 4, 5, 6})});
}

}  // namespace
}  // namespace tw::e2e
