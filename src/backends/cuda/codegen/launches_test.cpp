// launches_test.cpp: what programs and loops become, seen without a device: the text of functions,
// the ways that strides allow, which sizes share a kernel, and what is declined.
#include <gtest/gtest.h>

#include "backends/cuda/codegen/points.h"
#include "backends/cuda/launch.h"

namespace tw::cuda {
namespace {

using task::Lane;
using task::PointInstr;
using task::PointOp;
using task::SlotId;

/// A task and its slots, by hand.
struct Draft {
  std::vector<task::SlotInfo> slots;
  std::vector<std::byte> side;

  SlotId add(DType dtype, const Dims& dims, Dims strides = {}) {
    task::SlotInfo slot;
    slot.dtype = dtype;
    slot.rank = static_cast<uint8_t>(dims.size());
    if (strides.empty()) strides = task::contiguous_strides(dims);
    for (size_t d = 0; d < dims.size(); ++d) {
      slot.dims[d] = dims[d];
      slot.strides[d] = strides[d];
    }
    slot.root = static_cast<SlotId>(slots.size());
    slots.push_back(slot);
    return slot.root;
  }
  template <class Task>
  Result<std::vector<Launch>> launches(const Task& task) const {
    return make_launches({task::encode(task), slots, side});
  }
};

template <class T>
T value_of(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message;
    return T{};
  }
  return std::move(result).take();
}

PointInstr instr(PointOp op, Lane lane, uint8_t dst, uint8_t a, uint8_t b = 0) {
  PointInstr made;
  made.op = op;
  made.lane = lane;
  made.dst = dst;
  made.a = a;
  made.b = b;
  return made;
}

/// y = a + b in f16.
Launch add_launch(const Dims& a, const Dims& b, const Dims& y) {
  Draft draft;
  task::ElementwiseTask task;
  task.x[0].id = draft.add(DType::kF16, a);
  task.x[1].id = draft.add(DType::kF16, b);
  task.y[0].id = draft.add(DType::kF16, y);
  task::PointProgram program;
  program.n_inputs = 2;
  program.n_registers = 3;
  program.outputs = {2};
  program.code = {instr(PointOp::kAdd, Lane::kF32, 2, 0, 1)};
  append_bytes(program, draft.side);
  task.program = 0;
  const std::vector<Launch> launches = value_of(draft.launches(task));
  EXPECT_EQ(launches.size(), 1U);
  return launches.empty() ? Launch{} : launches[0];
}

bool has(const Launch& launch, std::string_view text) {
  return launch.source.find(text) != std::string::npos;
}

TEST(PointFunction, NamesAConstantForEachInstruction) {
  task::PointProgram program;
  program.n_inputs = 2;
  program.n_registers = 3;
  program.outputs = {2, 0};
  program.code = {instr(PointOp::kMul, Lane::kF32, 2, 0, 1),
                  instr(PointOp::kElu, Lane::kF32, 2, 2)};
  program.code[1].alpha = 1;
  const std::array<Lane, 2> lanes = {Lane::kF32, Lane::kF32};
  EXPECT_EQ(value_of(point_function(program, lanes, "f")),
            "template <class At>\n"
            "TW_DEVICE void f(At at, float r0, float r1, float& y0, float& y1) {\n"
            "  const float v0 = point_mul(r0, r1);\n"
            "  const float v1 = point_elu(v0, __uint_as_float(1065353216u));\n"
            "  y0 = v1;\n"
            "  y1 = r0;\n"
            "}\n");
}

TEST(PointFunction, ReadsU64AsUnsignedWhereTheTopBitMatters) {
  task::PointProgram program;
  program.n_inputs = 1;
  program.n_registers = 2;
  program.outputs = {1};
  program.code = {instr(PointOp::kMax, Lane::kI64, 1, 0, 0)};
  const std::array<DType, 1> is_unsigned = {DType::kU64}, is_signed = {DType::kI64};
  const std::string with = value_of(point_function(program, is_unsigned, "f"));
  const std::string without = value_of(point_function(program, is_signed, "f"));
  EXPECT_NE(with.find("point_max(static_cast<uint64_t>(r0), static_cast<uint64_t>(r0))"),
            std::string::npos);
  EXPECT_NE(without.find("point_max(r0, r0)"), std::string::npos);
}

TEST(PointFunction, DeclinesCastsToEightBitFloats) {
  task::PointProgram program;
  program.n_inputs = 1;
  program.n_registers = 2;
  program.outputs = {1};
  program.code = {instr(PointOp::kCast, Lane::kF32, 1, 0)};
  program.code[0].dtype = DType::kF8E4M3;
  const std::array<Lane, 1> lanes = {Lane::kF32};
  const Result<std::string> function = point_function(program, lanes, "f");
  ASSERT_FALSE(function.ok());
  EXPECT_EQ(function.error().message, "casts to f8e4m3 have no CUDA form");
}

TEST(ElementwiseLaunch, EqualDimsAreOneRowOfSixteenByteAccesses) {
  const Launch launch = add_launch({7, 600}, {7, 600}, {7, 600});
  EXPECT_TRUE(has(launch, "LoopParams<0, int>"));
  EXPECT_TRUE(has(launch, "run_loop<Work, 8, 1>"));
  EXPECT_EQ(launch.grid[0], 5U);  // 525 pieces, 128 a block
  EXPECT_EQ(launch.pointers.size(), 3U);
}

TEST(ElementwiseLaunch, SizesShareAKernel) {
  const Launch small = add_launch({128, 3072}, {3072}, {128, 3072});
  const Launch other = add_launch({1, 384, 768}, {768}, {1, 384, 768});
  EXPECT_EQ(small.source, other.source);
  EXPECT_TRUE(has(small, "LoopParams<1, int>"));
}

TEST(ElementwiseLaunch, LargeTensorsTakeSeveralPiecesAThread) {
  EXPECT_TRUE(has(add_launch({4096, 4096}, {4096, 4096}, {4096, 4096}), "run_loop<Work, 8, 2>"));
}

TEST(ElementwiseLaunch, OddRowsNarrowThePieces) {
  EXPECT_TRUE(has(add_launch({4, 62}, {62}, {4, 62}), "run_loop<Work, 2, 1>"));
  EXPECT_TRUE(has(add_launch({4, 61}, {61}, {4, 61}), "run_loop<Work, 1, 1>"));
}

TEST(ElementwiseLaunch, CountsPastThirtyTwoBitsAreWide) {
  EXPECT_TRUE(
      has(add_launch({3, 1500000001}, {3, 1}, {3, 1500000001}), "LoopParams<1, long long>"));
}

Launch copy_launch(DType dtype, const Dims& dims, const Dims& x_strides) {
  Draft draft;
  task::CopyTask task;
  task.x.id = draft.add(dtype, dims, x_strides);
  task.y.id = draft.add(dtype, dims);
  const std::vector<Launch> launches = value_of(draft.launches(task));
  EXPECT_EQ(launches.size(), 1U);
  return launches.empty() ? Launch{} : launches[0];
}

TEST(CopyLaunch, RowsOfAnyTypeShareAKernelOverBytes) {
  const Launch half = copy_launch(DType::kF16, {4, 6, 64}, {6 * 80, 80, 1});
  const Launch full = copy_launch(DType::kF32, {9, 32}, {48, 1});
  EXPECT_EQ(half.source, full.source);
  EXPECT_TRUE(has(half, "Bytes<kN> x;"));
  EXPECT_TRUE(has(half, "run_loop<Work, 16, 1>"));
}

TEST(CopyLaunch, TurnedPlanesGoThroughTiles) {
  // [1, 56, 56, 256] from channels first.
  const Launch launch = copy_launch(DType::kF16, {1, 56, 56, 256}, {0, 56, 1, 3136});
  EXPECT_TRUE(has(launch, "transpose<uint16_t>"));
  EXPECT_EQ(launch.grid[0], 49U * 4U);
}

TEST(CopyLaunch, HeadsMoveAsRows) {
  EXPECT_TRUE(has(copy_launch(DType::kF16, {2, 12, 128, 64}, {128 * 768, 64, 768, 1}),
                  "run_loop<Work, 16"));
}

TEST(CopyLaunch, AnEmptyTensorHasNone) {
  Draft draft;
  task::CopyTask task;
  task.x.id = draft.add(DType::kF32, {0, 5});
  task.y.id = draft.add(DType::kF32, {0, 5});
  EXPECT_TRUE(value_of(draft.launches(task)).empty());
}

TEST(GatherLaunch, EmbeddingRowsMoveSixteenBytesAtOnce) {
  Draft draft;
  task::GatherTask task;
  task.x.id = draft.add(DType::kF16, {30522, 768});
  task.index.id = draft.add(DType::kI64, {1, 128});
  task.y.id = draft.add(DType::kF16, {1, 128, 768});
  const std::vector<Launch> launches = value_of(draft.launches(task));
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_TRUE(has(launches[0], "RowGather<int64_t, Bytes<kN>, Bytes<kN>, kN>"));
  EXPECT_TRUE(has(launches[0], "run_loop<Work, 16, 1>"));
  EXPECT_EQ(launches[0].grid[0], 96U);
}

TEST(ScatterLaunch, MoreUpdatesThanPairsCanBeComparedAreDeclined) {
  Draft draft;
  task::ScatterTask task;
  task.y.id = draft.add(DType::kF32, {1000000});
  task.index.id = draft.add(DType::kI64, {1000000});
  task.updates.id = draft.add(DType::kF32, {1000000});
  const auto launches = draft.launches(task);
  ASSERT_FALSE(launches.ok());
  EXPECT_EQ(launches.error().message,
            "scatter of 1000000 updates, of which 1000000 may meet in one place, is too large for "
            "the CUDA form");
}

TEST(IndexedLaunch, TakesTheWordForFaultsAndOthersDoNot) {
  Draft draft;
  task::GatherTask task;
  task.x.id = draft.add(DType::kF16, {50, 64});
  task.index.id = draft.add(DType::kI64, {7});
  task.y.id = draft.add(DType::kF16, {7, 64});
  const std::vector<Launch> launches = value_of(draft.launches(task));
  ASSERT_EQ(launches.size(), 1U);
  ASSERT_TRUE(launches[0].fault_offset.has_value());
  EXPECT_EQ(*launches[0].fault_offset % sizeof(void*), 0U);
  EXPECT_LE(*launches[0].fault_offset + sizeof(void*), launches[0].params.size());
  EXPECT_FALSE(add_launch({4, 8}, {4, 8}, {4, 8}).fault_offset.has_value());
}

}  // namespace
}  // namespace tw::cuda
