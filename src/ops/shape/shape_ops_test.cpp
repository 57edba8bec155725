// What the cases beside the ops cannot say: how shape arithmetic folds over symbols, and how forms
// of older opsets import.
#include <gtest/gtest.h>

#include <limits>

#include "ir/contexts.h"
#include "ir/evaluate.h"
#include "ir/op_def.h"
#include "ops/shape/common_dims.h"

namespace tw::ops {
namespace {

using ir::ValueId;

/// A graph under construction whose inputs may have symbolic dims.
struct Bench {
  ir::Graph graph;
  std::vector<ir::Node> nodes;
  ir::GraphBuilder b{graph, nodes, "test"};

  ValueId input(DType dtype, const ir::Shape& shape) {
    ir::Value value;
    value.name = cat("input", graph.values.size());
    value.type = {dtype, shape};
    return graph.add_value(std::move(value));
  }
  ValueId op(std::string_view name, std::vector<ValueId> inputs, ir::Attrs attrs = {}) {
    auto made = b.op(name, std::move(inputs), std::move(attrs));
    EXPECT_TRUE(made.ok()) << made.error().message;
    return std::move(made).take();
  }
  ValueId scalar(int64_t value) { return b.constant(Tensor::from_ints({&value, 1}, true)); }
  std::string type(ValueId id) const { return to_string(graph.value(id).type); }
  std::string known(ValueId id) const {
    const auto& ints = graph.value(id).ints;
    return ints ? join(*ints, " ") : "unknown";
  }
  /// The outputs of an ONNX node by the import hook that holds at `opset`.
  std::vector<ValueId> import(std::string_view onnx_name, int opset, std::vector<ValueId> inputs,
                              ir::Attrs attrs, size_t n_outputs = 1) {
    ir::ImportContext context(onnx_name, opset, std::move(inputs), n_outputs, std::move(attrs), b);
    const auto done = ir::find_onnx("", onnx_name, opset).entry->import(context);
    EXPECT_TRUE(done.ok()) << done.error().message;
    return context.results();
  }
};

const Dim kBatch = Dim::symbol("batch"), kSeq = Dim::symbol("seq");

TEST(ShapeOps, FoldTheArithmeticThatExportersPutBeforeReshape) {
  Bench t;
  const ValueId x = t.input(DType::kF32, {kBatch, kSeq, 384});
  const ValueId dims = t.op("shape", {x});
  std::vector<ValueId> parts;
  for (const int64_t d : {0, 1}) {
    const ValueId dim = t.op("gather", {dims, t.scalar(d)});
    EXPECT_EQ(t.type(dim), "i64[]");
    parts.push_back(t.op("unsqueeze", {dim, t.b.ints({0})}));
  }
  parts.push_back(t.b.ints({12, -1}));
  const ValueId target = t.op("concat", parts, {{"axis", int64_t{0}}});
  EXPECT_EQ(t.known(target), "batch seq 12 -1");
  EXPECT_EQ(t.type(t.op("reshape", {x, target})), "f32[batch,seq,12,32]");
}

TEST(ShapeOps, ReshapeCancelsWhatBothSidesShare) {
  Bench t;
  const Dim rows = floor_div(kSeq - Dim(1), Dim(2)) + Dim(1);
  const ValueId x = t.input(DType::kF32, {kBatch, 64, rows, rows});
  EXPECT_EQ(t.graph.value(t.op("reshape", {x, t.b.ints({0, -1, 0, 0})})).type.shape[1], Dim(64));
  EXPECT_EQ(t.graph.value(t.op("reshape", {x, t.b.ints({0, 64, -1})})).type.shape[2], rows * rows);
}

TEST(ShapeOps, SliceKeepsSymbolicShapesShort) {
  Bench t;
  const ValueId x = t.input(DType::kF32, {kBatch, kSeq});
  const auto sliced = [&](ValueId start, ValueId end, int64_t step) {
    return t.type(t.op("slice", {x, start, end, t.b.ints({1}), t.b.ints({step})}));
  };
  const ValueId seq = t.op("slice", {t.op("shape", {x}), t.b.ints({1}), t.b.ints({2})});
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(sliced(t.b.ints({0}), t.b.ints({kEnd}), 1), "f32[batch,seq]");
  EXPECT_EQ(sliced(t.b.ints({0}), seq, 1), "f32[batch,seq]");
  EXPECT_EQ(sliced(t.b.ints({-1}), t.b.ints({-kEnd}), -1), "f32[batch,seq]");
  EXPECT_EQ(sliced(t.b.ints({1}), t.b.ints({kEnd}), 1), sliced(t.b.ints({0}), t.b.ints({-1}), 1));
}

TEST(ShapeOps, SplitOfASymbolicDimAddsUp) {
  Bench t;
  const ValueId x = t.input(DType::kF32, {Dim(2) * kSeq, 3});
  const auto parts = t.b.ops("split", {x}, {}, 2);
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(t.type(parts.value()[0]), "f32[seq,3]");
  EXPECT_EQ(t.type(parts.value()[1]), "f32[seq,3]");
}

TEST(ShapeOps, RangeOverALengthHasThatLength) {
  Bench t;
  const ValueId x = t.input(DType::kF32, {kSeq});
  const ValueId seq = t.op("gather", {t.op("shape", {x}), t.scalar(0)});
  EXPECT_EQ(t.type(t.op("range", {t.scalar(0), seq, t.scalar(1)})), "i64[seq]");
}

TEST(ShapeOps, AttributesOfOlderOpsetsBecomeInputs) {
  Bench t;
  const ValueId x = t.input(DType::kF32, {1, 6, kSeq});
  const std::vector<int64_t> one = {1}, four = {4}, front = {0}, some = {2, 4};
  EXPECT_EQ(t.type(t.import("Squeeze", 11, {x}, {{"axes", front}})[0]), "f32[6,seq]");
  EXPECT_EQ(t.type(t.import("Unsqueeze", 11, {x}, {{"axes", one}})[0]), "f32[1,1,6,seq]");
  EXPECT_EQ(t.type(t.import("Split", 11, {x}, {{"split", some}, {"axis", int64_t{1}}}, 2)[1]),
            "f32[1,4,seq]");
  EXPECT_EQ(t.type(t.import("Slice", 9, {x}, {{"starts", one}, {"ends", four}, {"axes", one}})[0]),
            "f32[1,3,seq]");
  const std::vector<int64_t> pads = {0, 1, 0, 0, 2, 0};
  EXPECT_EQ(t.type(t.import("Pad", 9, {x}, {{"pads", pads}, {"value", 1.5}})[0]), "f32[1,9,seq]");
  EXPECT_EQ(t.type(t.import("Dropout", 7, {x}, {{"ratio", 0.1}}, 2)[1]), "bool[1,6,seq]");
  EXPECT_EQ(
      t.type(t.import("EyeLike", 9, {t.input(DType::kF32, {3, 3})}, {{"dtype", int64_t{7}}})[0]),
      "i64[3,3]");
}

TEST(ShapeOps, ConstantOfShapeTakesTheTypeAndValueOfItsAttribute) {
  Bench t;
  const int64_t seven = 7;
  const ValueId y = t.import("ConstantOfShape", 9, {t.b.ints({2})},
                             {{"value", Tensor::from_ints({&seven, 1})}})[0];
  EXPECT_EQ(t.type(y), "i64[2]");
  EXPECT_EQ(t.known(y), "7 7");
}

TEST(ShapeOps, AnIndexThatReachesPastItsTensorIsRefused) {
  Bench t;
  const ValueId x = t.input(DType::kF32, {2, 3}), index = t.input(DType::kI64, {4, 3}),
                updates = t.input(DType::kF32, {4, 3});
  EXPECT_TRUE(t.b.op("gather_elements", {x, index}, {{"axis", int64_t{0}}}).ok());
  EXPECT_FALSE(t.b.op("gather_elements", {x, index}, {{"axis", int64_t{1}}}).ok());
  EXPECT_FALSE(t.b.op("scatter_elements", {x, index, updates}, {{"axis", int64_t{1}}}).ok());
}

TEST(ShapeOps, ConstantOfShapeTakesOneNumber) {
  Bench t;
  EXPECT_FALSE(t.b.op("constant_of_shape", {t.b.ints({2}), t.input(DType::kF32, {3})}).ok());
}

TEST(ElementwiseOps, ASlopeBroadcastsToItsInputAndNotTheOtherWay) {
  Bench t;
  const ValueId x = t.input(DType::kF32, {1, 1, 4}), wide = t.input(DType::kF32, {3, 4});
  EXPECT_EQ(t.type(t.op("prelu", {x, t.input(DType::kF32, {4})})), "f32[1,1,4]");
  EXPECT_FALSE(t.b.op("prelu", {x, wide}).ok());
}

TEST(ShapeOps, ReversingMoreStepsThanThereAreIsAnError) {
  Bench t;
  const int64_t lengths[] = {4, 2};
  const Tensor x = Tensor::from_ints(std::vector<int64_t>(6, 1)).reshaped({3, 2});
  const ValueId a = t.b.constant(x), b = t.b.constant(Tensor::from_ints(lengths));
  t.op("reverse_sequence", {a, b});
  const Tensor length_tensor = Tensor::from_ints(lengths);
  EXPECT_FALSE(ir::evaluate_node(t.nodes.back(), {&x, &length_tensor}).ok());
}

TEST(Dims, AreKnownNotNegativeThroughMinAndMax) {
  EXPECT_TRUE(is_nonnegative(kBatch * kSeq + Dim(1)));
  EXPECT_TRUE(is_nonnegative(kSeq - min(kSeq, Dim(512))));
  EXPECT_TRUE(is_nonnegative(max(kSeq, kBatch) - kSeq));
  EXPECT_FALSE(is_nonnegative(kSeq - Dim(1)));
  EXPECT_FALSE(is_nonnegative(kSeq - kBatch));
}

}  // namespace
}  // namespace tw::ops
