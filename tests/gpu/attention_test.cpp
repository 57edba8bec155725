// attention on the device against the CPU executor: head sizes, lengths, masks and every way in
// which operands lie, in each of the cuts that a launch can have (few, some, many queries).
#include <cmath>
#include <limits>

#include "backends/cuda/tasks/attention_plan.h"
#include "device_case.h"

namespace tw::gpu {
namespace {

using cpu::Lie;
using cpu::Net;
using task::AttentionTask;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Weights are rounded to the operands' type before they meet the values, and so is the result:
/// averages of numbers in [-1, 1]. Weights of tf32 have 11 bits, as f16's, and so have its
/// operands.
double tolerance(DType dtype, bool tf32 = false) {
  if (dtype == DType::kF32) return tf32 ? 0x1p-8 : 0x1p-16;
  return dtype == DType::kF16 ? 0x1p-9 : 0x1p-6;
}

struct Case {
  int64_t batch, n_queries, n_keys, heads, kv_heads, size;
  DType dtype = DType::kF16;
  bool causal = false;
  Dims mask{};  // none when empty
  Lie lie = Lie::kDense;
  int64_t v_size = 0;  // 0: size
  float scale = 0.3F;
  bool tf32 = false;
};

AttentionTask make_attention(Net& net, const Case& c) {
  const int64_t v_size = c.v_size == 0 ? c.size : c.v_size;
  AttentionTask task;
  task.q.id = net.add(c.dtype, {c.batch, c.n_queries, c.heads, c.size}, c.lie, 2);
  task.k.id = net.add(c.dtype, {c.batch, c.n_keys, c.kv_heads, c.size}, c.lie, 2);
  task.v.id = net.add(c.dtype, {c.batch, c.n_keys, c.kv_heads, v_size}, c.lie);
  if (!c.mask.empty()) task.mask.id = net.add(DType::kF32, c.mask, c.lie, 3);
  task.y.id = net.add(c.dtype, {c.batch, c.n_queries, c.heads, v_size}, c.lie);
  task.scale = c.scale;
  task.causal = c.causal ? 1 : 0;
  return task;
}

void add_attention(Net& net, const AttentionTask& task, const Case& c) {
  net.add_task(task);
  if (c.tf32) net.program.records.back().flags = 1;
}

void expect_case(const Case& c) {
  SCOPED_TRACE(cat(c.dtype, " ", c.batch, " x ", c.n_queries, " queries, ", c.n_keys, " keys, ",
                   c.heads, " heads of ", c.size));
  Net net(11);
  const AttentionTask task = make_attention(net, c);
  add_attention(net, task, c);
  expect_same_on_device(net, task.y.id, tolerance(c.dtype, c.tf32));
}

void expect_cases(std::span<const Case> cases) {
  for (const Case& c : cases) {
    expect_case(c);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(AttentionOnDevice, EveryHeadSizeGivesTheCpusAnswer) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32})
    for (const int64_t size : {8, 32, 64, 80, 96, 128, 160, 256})
      expect_case({1, 20, 70, 2, 2, size, dtype});
}

TEST(AttentionOnDevice, ManyQueriesAreCutWide) {
  const Case cases[] = {{22, 40, 70, 12, 12, 64},
                        {22, 33, 70, 12, 6, 32, DType::kBF16, true},
                        {11, 130, 130, 12, 12, 64, DType::kF16, true, {11, 1, 1, 130}},
                        {22, 17, 65, 12, 3, 128, DType::kBF16, false, {1, 12, 17, 65}},
                        {22, 20, 20, 12, 12, 256},
                        {22, 20, 80, 12, 12, 96, DType::kF32, true}};
  expect_cases(cases);
}

TEST(AttentionOnDevice, SomeQueriesShareWarps) {
  const Case cases[] = {{6, 70, 130, 12, 12, 64},
                        {6, 64, 64, 12, 4, 32, DType::kBF16, true},
                        {6, 65, 90, 12, 12, 64, DType::kF16, false, {6, 1, 1, 90}},
                        {6, 40, 50, 12, 12, 96, DType::kF16, false, {6, 12, 40, 50}},
                        {6, 40, 150, 12, 12, 128, DType::kBF16, true},
                        {6, 70, 130, 12, 12, 128, DType::kBF16, false, {6, 1, 1, 130}},
                        {6, 40, 70, 12, 12, 128, DType::kF32, false, {1, 1, 40, 70}}};
  expect_cases(cases);
}

TEST(AttentionOnDevice, EveryCutGivesTheCpusAnswerAndTheSameBits) {
  const Case cases[] = {{2, 70, 200, 3, 3, 64, DType::kF16, false, {2, 1, 1, 200}},
                        {1, 40, 90, 4, 2, 32, DType::kBF16, true}};
  for (const Case& c : cases) {
    std::vector<std::byte> first;
    for (uint8_t variant = 0; variant <= cuda::kAttentionVariants; ++variant) {
      SCOPED_TRACE(cat("variant ", variant));
      Net net(11);
      const AttentionTask task = make_attention(net, c);
      add_attention(net, task, c);
      net.program.records.back().variant = variant;
      expect_bits(net, task.y.id, first);
      if (!has_device()) continue;
      expect_same_on_device(net, task.y.id, tolerance(c.dtype));
    }
  }
  if (!has_device()) GTEST_SKIP() << "no GPU: the kernels were compiled only";
}

TEST(AttentionOnDevice, CausalQueriesSeeTheKeysUpToTheirOwn) {
  const Case cases[] = {{1, 70, 70, 2, 2, 64, DType::kF16, true},
                        {2, 3, 70, 4, 2, 40, DType::kBF16, true},
                        {2, 130, 200, 2, 1, 32, DType::kF16, true, {2, 1, 1, 200}},
                        {1, 50, 150, 2, 2, 64, DType::kF32, true, {1, 1, 50, 150}}};
  expect_cases(cases);
}

TEST(AttentionOnDevice, QueriesThatSeeNoKeyAreNaNAsTheFormulaSays) {
  const Case cases[] = {{1, 70, 40, 2, 2, 64, DType::kF16, true},
                        {1, 5, 3, 1, 1, 32, DType::kF32, true},
                        {2, 3, 0, 2, 2, 64, DType::kBF16},
                        {2, 3, 0, 2, 2, 64, DType::kF32}};
  expect_cases(cases);
}

TEST(AttentionOnDevice, OddLengthsAndEmptyOnesWork) {
  const Case cases[] = {{1, 1, 1, 1, 1, 1},
                        {1, 1, 1, 1, 1, 1, DType::kF32},
                        {0, 5, 9, 2, 2, 8},
                        {1, 0, 9, 2, 2, 8, DType::kF32},
                        {3, 17, 63, 5, 1, 24, DType::kBF16},
                        {1, 1, 500, 3, 3, 64},
                        {1, 9, 65, 2, 2, 64, DType::kF16, false, {}, Lie::kDense, 40},
                        {1, 9, 65, 2, 2, 40, DType::kF32, false, {}, Lie::kDense, 72},
                        {1, 9, 65, 2, 2, 64, DType::kF16, false, {}, Lie::kDense, 0, -0.25F},
                        {1, 9, 65, 2, 2, 64, DType::kF32, false, {}, Lie::kDense, 0, 0.0F}};
  expect_cases(cases);
}

TEST(AttentionOnDevice, StridedAndUnalignedOperandsWork) {
  const Case cases[] = {{2, 20, 70, 3, 3, 5, DType::kF16},
                        {2, 20, 70, 4, 2, 64, DType::kF16, true, {2, 1, 1, 70}, Lie::kTurned},
                        {2, 20, 70, 4, 2, 64, DType::kBF16, false, {}, Lie::kGaps},
                        {2, 20, 70, 3, 3, 33, DType::kF32, true, {1, 3, 20, 70}, Lie::kGaps},
                        {22, 20, 30, 12, 12, 50, DType::kF16, true},
                        {6, 70, 30, 12, 12, 60, DType::kBF16, false, {6, 1, 1, 30}}};
  expect_cases(cases);
}

TEST(AttentionOnDevice, MasksRepeatAlongAnyDim) {
  const Dims masks[] = {{2, 1, 1, 70}, {1, 1, 1, 70}, {2, 3, 20, 70}, {1, 3, 20, 70}, {2, 1, 20, 1},
                        {1, 3, 1, 1},  {1, 1, 1, 1},  {20, 70},       {70},           {3, 1, 70}};
  for (const DType dtype : {DType::kF16, DType::kF32})
    for (const Dims& mask : masks) expect_case({2, 20, 70, 3, 3, 64, dtype, false, mask});
}

TEST(AttentionOnDevice, MasksMayBeF16AndBf16) {
  for (const DType mask_dtype : {DType::kF16, DType::kBF16}) {
    Net net(4);
    AttentionTask task = make_attention(net, {2, 20, 70, 3, 3, 64});
    task.mask.id = net.add(mask_dtype, {2, 1, 1, 70}, Lie::kDense, 4);
    net.add_task(task);
    expect_same_on_device(net, task.y.id, tolerance(DType::kF16));
  }
}

/// What models write where a key is hidden: of row 0 of the batch all keys, of others some.
void expect_hidden(DType dtype, double hidden, bool full) {
  SCOPED_TRACE(cat(dtype, ", hidden is ", hidden));
  Net net(9);
  const int64_t n_queries = full ? 21 : 1;
  AttentionTask task = make_attention(net, {3, 21, 150, 2, 2, 64, dtype});
  task.mask.id = net.add(DType::kF32, {3, 1, n_queries, 150});
  cpu::for_each_coordinate(net.slot(task.mask.id).shape(), [&](const Dims& at) {
    const bool hides = at[0] == 0 || (at[0] == 1 ? at[3] < 140 : at[3] > 3);
    net.set(task.mask.id, at, hides ? hidden : 0);
  });
  net.add_task(task);
  // All keys at -1e4: scores lose bits there, on both sides and differently.
  const double lost = hidden == -1e4 ? 0x1p-9 : 0;
  expect_same_on_device(net, task.y.id, tolerance(dtype) + lost);
}

TEST(AttentionOnDevice, HiddenKeysWeighNothingWhateverTheMaskSays) {
  for (const DType dtype : {DType::kF16, DType::kF32})
    for (const double hidden : {-kInfinity, -3.4028234663852886e38, -1e4})
      for (const bool full : {false, true}) expect_hidden(dtype, hidden, full);
}

/// q, k and v as one product leaves them: [batch, length, 3, heads, size].
TEST(AttentionOnDevice, QkvInOneBufferNeedsNoCopies) {
  const int64_t batch = 2, length = 50, heads = 3, size = 64;
  Net net(6);
  AttentionTask task;
  const task::SlotId qkv = net.add(DType::kF16, {batch, length, 3, heads, size});
  task::SlotId parts[3];
  for (int64_t i = 0; i < 3; ++i) {
    parts[i] = net.add(DType::kF16, {batch, length, heads, size});
    task::SlotInfo& view = net.slot(parts[i]);
    view.root = qkv;
    view.flags = task::SlotInfo::kView;
    view.offset_bytes = i * heads * size * 2;
    view.strides[0] = length * 3 * heads * size;
    view.strides[1] = 3 * heads * size;
    view.strides[2] = size;
    view.strides[3] = 1;
  }
  task.q.id = parts[0], task.k.id = parts[1], task.v.id = parts[2];
  task.y.id = net.add(DType::kF16, {batch, length, heads, size});
  task.scale = 0.125F;
  net.add_task(task);
  expect_same_on_device(net, task.y.id, tolerance(DType::kF16));
}

TEST(AttentionOnDevice, Tf32IsUsedWhereTheRecordAllowsIt) {
  Case cases[] = {{1, 20, 70, 2, 2, 64, DType::kF32},
                  {22, 20, 70, 12, 12, 32, DType::kF32, true, {22, 1, 1, 70}},
                  {6, 70, 70, 12, 12, 128, DType::kF32},
                  {22, 20, 70, 12, 12, 96, DType::kF32, false, {1, 1, 20, 70}},
                  {2, 20, 70, 3, 3, 33, DType::kF32, true, {}, Lie::kDense, 0, -0.3F},
                  {2, 20, 70, 3, 3, 200, DType::kF32}};  // no such kernel: fp32
  for (Case& c : cases) c.tf32 = true;
  expect_cases(cases);
}

TEST(AttentionOnDevice, ProductionShapesGiveTheCpusAnswer) {
  const float scale = 0.125F;
  const Case cases[] = {
      {1, 128, 128, 12, 12, 64, DType::kF16, false, {1, 1, 1, 128}, Lie::kDense, 0, scale},
      {1, 128, 128, 12, 12, 32, DType::kF16, false, {1, 1, 1, 128}, Lie::kDense, 0, scale},
      {1, 512, 512, 12, 12, 64, DType::kF16, false, {1, 1, 1, 512}, Lie::kDense, 0, scale},
      {8, 512, 512, 12, 12, 64, DType::kF16, false, {8, 1, 1, 512}, Lie::kDense, 0, scale},
      {1, 1024, 1024, 32, 8, 128, DType::kBF16, true, {}, Lie::kDense, 0, scale},
      {1, 197, 197, 12, 12, 64, DType::kF32, false, {}, Lie::kDense, 0, scale}};
  expect_cases(cases);
}

/// y of one sequence minus y of `batch` copies of it; 0 when a row's bits are its own affair.
void expect_same_bits(const Case& c, int64_t n_queries_alone) {
  SCOPED_TRACE(cat(c.dtype, ", heads of ", c.size));
  Net net(2);
  const AttentionTask many = make_attention(net, c);
  Case one_case = c;
  one_case.batch = 1;
  one_case.n_queries = n_queries_alone;
  if (!c.mask.empty()) one_case.mask = {1, 1, 1, c.n_keys};
  const AttentionTask one = make_attention(net, one_case);
  const auto copy = [&](task::SlotId from, task::SlotId to, int64_t shift) {
    cpu::for_each_coordinate(net.slot(to).shape(), [&](const Dims& at) {
      Dims source = at;
      source[0] = 0, source[1] += shift;
      net.set(to, at, net.get(from, source));
    });
  };
  for (const task::SlotId id : {many.q.id, many.k.id, many.v.id}) copy(id, id, 0);
  copy(many.q.id, one.q.id, c.n_queries - n_queries_alone);  // the last ones: causal ends there
  copy(many.k.id, one.k.id, 0);
  copy(many.v.id, one.v.id, 0);
  if (!c.mask.empty()) copy(many.mask.id, many.mask.id, 0), copy(many.mask.id, one.mask.id, 0);
  add_attention(net, many, c);
  add_attention(net, one, c);
  task::SlotInfo tail = net.slot(many.y.id);  // the rows of `many` that `one` computes too
  const task::SlotId rows = net.add(c.dtype, {c.batch, n_queries_alone, c.heads, c.size});
  tail.root = many.y.id;
  tail.flags = task::SlotInfo::kView;
  tail.dims[1] = n_queries_alone;
  tail.offset_bytes = (c.n_queries - n_queries_alone) * tail.strides[1] * size_bytes(c.dtype);
  net.slot(rows) = tail;
  task::ElementwiseTask difference;
  difference.x[0] = {rows};
  difference.x[1] = {one.y.id};
  difference.y[0] = {net.add(c.dtype, {c.batch, n_queries_alone, c.heads, c.size})};
  difference.program =
      net.add_program(2, {2}, {cpu::instr(task::PointOp::kSub, task::Lane::kF32, 2, 0, 1)});
  net.add_task(difference);
  expect_same_on_device(net, difference.y[0].id, 0);
}

TEST(AttentionOnDevice, ARowsBitsDependOnItsOwnKeysOnly) {
  const Case cases[] = {
      {22, 40, 150, 12, 12, 64, DType::kF16, false, {22, 1, 1, 150}},  // wide and narrow
      {22, 40, 150, 12, 12, 64, DType::kF16, true},
      {6, 70, 150, 12, 12, 64, DType::kBF16, false},  // some and narrow
      {6, 70, 150, 12, 12, 32, DType::kBF16, true, {6, 1, 1, 150}},
      {22, 20, 70, 12, 12, 128, DType::kBF16, true},
      {22, 20, 70, 12, 12, 96, DType::kF16, false},
      {6, 70, 150, 12, 12, 96, DType::kF16, false},
      {22, 40, 150, 12, 12, 64, DType::kF32, true},
      {22, 40, 150, 12, 12, 64, DType::kF32, false, {22, 1, 1, 150}},
      {22, 40, 150, 12, 12, 64, DType::kF32, true, {}, Lie::kDense, 0, 0.3F, true},
      {6, 70, 150, 12, 12, 96, DType::kF32, false, {}, Lie::kDense, 0, 0.3F, true}};
  for (const Case& c : cases)
    for (const int64_t n_queries_alone : {int64_t{1}, c.n_queries - 3})
      expect_same_bits(c, n_queries_alone);
}

TEST(AttentionOnDevice, WhatHasNoCudaFormSaysSo) {
  Net net(1);
  net.add_task(make_attention(net, {1, 4, 4, 1, 1, 264}));
  const auto launches =
      cuda::make_launches({net.program.records[0], net.program.slots, net.program.side});
  ASSERT_FALSE(launches.ok());
  EXPECT_NE(launches.error().message.find("264"), std::string::npos);
}

}  // namespace
}  // namespace tw::gpu
