// gemm and attention against double loops.
#include <cmath>

#include "backends/cpu/conformance/net.h"

namespace tw::cpu {
namespace {

struct GemmCase {
  Dims a, b, c;
  bool transpose;
  DType dtype = DType::kF32;
  Lie lie = Lie::kDense;
  float alpha = 1;
};

const GemmCase kGemmCases[] = {
    {{5, 7}, {7, 9}, {5, 9}, false},
    {{100, 33}, {33, 300}, {100, 300}, false},
    {{100, 33}, {300, 33}, {100, 300}, true},
    {{2, 3, 50, 20}, {2, 3, 20, 60}, {2, 3, 50, 60}, false, DType::kF32, Lie::kGaps},
    {{2, 3, 50, 20}, {3, 60, 20}, {2, 3, 50, 60}, true, DType::kF32, Lie::kTurned, 0.5F},
    {{1, 4, 5}, {6, 5, 3}, {6, 4, 3}, false},
    {{3, 0}, {0, 4}, {3, 4}, false},
    {{0, 3}, {3, 4}, {0, 4}, false},
    {{1, 1}, {1, 1}, {1, 1}, false},
    {{9, 17}, {17, 20}, {9, 20}, false, DType::kF16},
    {{9, 17}, {20, 17}, {9, 20}, true, DType::kBF16, Lie::kGaps},
    {{9, 17}, {17, 20}, {9, 20}, false, DType::kF64, Lie::kTurned},
    {{9, 17}, {17, 20}, {9, 20}, false, DType::kI32},
};

double gemm_at(Net& net, const task::GemmTask& task, const Dims& at) {
  const size_t row = at.size() - 2, col = at.size() - 1;
  const task::SlotInfo& a = net.slot(task.a.id);
  double sum = 0;
  for (int64_t k = 0; k < a.dims[a.rank - 1]; ++k) {
    Dims left = at, right = at;
    left[col] = k;
    right[row] = task.transpose_b != 0 ? at[col] : k;
    right[col] = task.transpose_b != 0 ? k : at[col];
    sum += net.get_broadcast(task.a.id, left) * net.get_broadcast(task.b.id, right);
  }
  const double bias = task.bias.id != task::kNoSlot ? net.get(task.bias.id, {at[col]}) : 0;
  return task.alpha * sum + bias;
}

double tolerance(DType dtype) {
  if (dtype == DType::kF16) return 2e-3;
  return dtype == DType::kBF16 ? 1e-2 : dtype == DType::kF32 ? 1e-5 : 1e-12;
}

TEST(GemmTask, MatchesDoubleLoops) {
  for (const GemmCase& c : kGemmCases) {
    SCOPED_TRACE(cat(join(c.a, "x"), " by ", join(c.b, "x"), " ", c.dtype));
    Net net(1);
    task::GemmTask task;
    task.a.id = net.add(c.dtype, c.a, c.lie);
    task.b.id = net.add(c.dtype, c.b, c.lie);
    task.bias.id = net.add(c.dtype, {c.c.back()});
    task.c.id = net.add(c.dtype, c.c, c.lie);
    task.alpha = c.alpha;
    task.transpose_b = c.transpose ? 1 : 0;
    net.add_task(task);
    expect_result(
        net, task.c.id, [&](const Dims& at) { return gemm_at(net, task, at); }, tolerance(c.dtype));
  }
}

TEST(GemmTask, ImmutableWeightsArePackedOnce) {
  for (const bool transpose : {false, true}) {
    Net net(2);
    task::GemmTask task;
    task.a.id = net.add(DType::kF32, {70, 40});
    task.b.id = net.add_immutable(DType::kF32, transpose ? Dims{90, 40} : Dims{40, 90});
    task.c.id = net.add(DType::kF32, {70, 90});
    task.transpose_b = transpose ? 1 : 0;
    net.add_task(task);
    expect_result(net, task.c.id, [&](const Dims& at) { return gemm_at(net, task, at); }, 1e-5);
  }
}

TEST(GemmTask, TheEpilogueSeesSumsAndExtras) {
  Net net(4);
  task::GemmTask task;
  task.a.id = net.add(DType::kF32, {60, 30});
  task.b.id = net.add(DType::kF32, {30, 310});
  task.extra[0].id = net.add(DType::kF32, {60, 310}, Lie::kGaps);
  task.extra[1].id = net.add(DType::kF32, {310});
  task.c.id = net.add(DType::kF32, {60, 310});
  using task::PointOp;
  task.epilogue = net.add_program(3, {5},
                                  {instr(PointOp::kAdd, task::Lane::kF32, 3, 0, 2),
                                   instr(PointOp::kRelu, task::Lane::kF32, 4, 3),
                                   instr(PointOp::kAdd, task::Lane::kF32, 5, 4, 1)});
  net.add_task(task);
  expect_result(
      net, task.c.id,
      [&](const Dims& at) {
        return std::max(0.0, gemm_at(net, task, at) + net.get(task.extra[1].id, {at[1]})) +
               net.get(task.extra[0].id, at);
      },
      1e-5);
}

struct AttentionCase {
  int64_t batch, n_queries, n_keys, heads, kv_heads, size;
  bool causal, masked;
  DType dtype = DType::kF32;
  Lie lie = Lie::kDense;
};

double attention_at(Net& net, const task::AttentionTask& t, const Dims& at) {
  const task::SlotInfo &q = net.slot(t.q.id), &k = net.slot(t.k.id);
  const int64_t kv_head = at[2] / (q.dims[2] / k.dims[2]);
  std::vector<double> score;
  double highest = -INFINITY, total = 0, sum = 0;
  for (int64_t key = 0; key < k.dims[1]; ++key) {
    double s = 0;
    for (int64_t d = 0; d < q.dims[3]; ++d) {
      s += net.get(t.q.id, {at[0], at[1], at[2], d}) * net.get(t.k.id, {at[0], key, kv_head, d});
    }
    s *= t.scale;
    if (t.mask.id != task::kNoSlot) s += net.get_broadcast(t.mask.id, {at[0], at[2], at[1], key});
    if (t.causal != 0 && key > at[1] + k.dims[1] - q.dims[1]) s = -INFINITY;
    score.push_back(s);
    highest = std::max(highest, s);
  }
  for (int64_t key = 0; key < k.dims[1]; ++key) {
    const double p = std::exp(score[static_cast<size_t>(key)] - highest);
    total += p;
    sum += p * net.get(t.v.id, {at[0], key, kv_head, at[3]});
  }
  return sum / total;
}

/// Views as an expansion leaves them: of step 0 along what is summed.
TEST(GemmTask, SumsOverARowThatRepeats) {
  for (const int64_t m : {5, 70}) {
    Net net(6);
    task::GemmTask task;
    task.a.id = net.add(DType::kF32, {m, 17});
    task.b.id = net.add(DType::kF32, {17, 20});
    task.c.id = net.add(DType::kF32, {m, 20});
    net.slot(task.b.id).strides[0] = 0;
    net.add_task(task);
    expect_result(
        net, task.c.id, [&](const Dims& at) { return gemm_at(net, task, at); },
        tolerance(DType::kF32));
  }
}

TEST(AttentionTask, SumsOverValuesThatRepeat) {
  Net net(7);
  task::AttentionTask task;
  task.q.id = net.add(DType::kF32, {1, 6, 2, 4});
  task.k.id = net.add(DType::kF32, {1, 9, 2, 4});
  task.v.id = net.add(DType::kF32, {1, 9, 2, 4});
  task.y.id = net.add(DType::kF32, {1, 6, 2, 4});
  net.slot(task.v.id).strides[1] = 0;
  net.add_task(task);
  expect_result(
      net, task.y.id, [&](const Dims& at) { return attention_at(net, task, at); },
      tolerance(DType::kF32));
}

TEST(AttentionTask, MatchesDoubleLoops) {
  const AttentionCase cases[] = {{2, 10, 10, 4, 4, 8, false, true},
                                 {1, 130, 130, 2, 1, 16, true, false},
                                 {2, 3, 70, 4, 2, 5, true, true, DType::kF32, Lie::kGaps},
                                 {1, 1, 1, 1, 1, 1, false, false},
                                 {1, 5, 9, 2, 2, 8, false, false, DType::kF16, Lie::kTurned},
                                 {0, 5, 9, 2, 2, 8, false, false}};
  for (const AttentionCase& c : cases) {
    Net net(5);
    task::AttentionTask task;
    task.q.id = net.add(c.dtype, {c.batch, c.n_queries, c.heads, c.size}, c.lie);
    task.k.id = net.add(c.dtype, {c.batch, c.n_keys, c.kv_heads, c.size}, c.lie);
    task.v.id = net.add(c.dtype, {c.batch, c.n_keys, c.kv_heads, c.size}, c.lie);
    if (c.masked)
      task.mask.id = net.add(DType::kF32, {c.batch, 1, c.batch == 1 ? 1 : c.n_queries, c.n_keys});
    task.y.id = net.add(c.dtype, {c.batch, c.n_queries, c.heads, c.size}, c.lie);
    task.scale = 0.35F;
    task.causal = c.causal ? 1 : 0;
    net.add_task(task);
    expect_result(
        net, task.y.id, [&](const Dims& at) { return attention_at(net, task, at); },
        tolerance(c.dtype));
  }
}

}  // namespace
}  // namespace tw::cpu
