// conv and pool against loops over taps.
#include <cmath>

#include "backends/cpu/conformance/net.h"

namespace tw::cpu {
namespace {

struct ConvCase {
  Dims x, w;
  int32_t groups = 1;
  int16_t stride = 1, dilation = 1, pad = 0;
  DType dtype = DType::kF32;
  Lie lie = Lie::kDense;
};

const ConvCase kConvCases[] = {
    {{2, 9, 11, 3}, {8, 3, 3, 3}, 1, 1, 1, 1},
    {{1, 14, 14, 16}, {24, 16, 1, 1}},
    {{1, 14, 14, 16}, {24, 16, 1, 1}, 1, 1, 1, 0, DType::kF32, Lie::kGaps},
    {{2, 12, 13, 10}, {10, 1, 3, 3}, 10, 2, 1, 1},
    {{1, 12, 13, 8}, {16, 1, 3, 3}, 8, 1, 2, 2},
    {{1, 10, 10, 12}, {6, 4, 3, 3}, 3, 2, 1, 1},
    {{2, 40, 5}, {7, 5, 5}, 1, 2, 1, 2},
    {{1, 5, 6, 7, 2}, {3, 2, 3, 3, 3}, 1, 1, 1, 1},
    {{1, 1, 1, 1}, {1, 1, 1, 1}},
    {{0, 4, 4, 2}, {3, 2, 3, 3}, 1, 1, 1, 1},
    {{1, 3, 3, 4}, {5, 4, 3, 3}, 1, 1, 1, 3},
    {{1, 8, 9, 4}, {6, 4, 3, 3}, 1, 1, 1, 1, DType::kF16, Lie::kTurned},
    {{1, 8, 9, 4}, {6, 2, 3, 3}, 2, 1, 1, 1, DType::kF64, Lie::kTurned},
    {{1, 8, 9, 4}, {6, 4, 3, 3}, 1, 1, 1, 1, DType::kI32}};

int64_t output_size(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
  return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
}

task::ConvTask make_conv(Net& net, const ConvCase& c, bool immutable) {
  task::ConvTask task;
  task.x.id = net.add(c.dtype, c.x, c.lie);
  task.w.id = immutable ? net.add_immutable(c.dtype, c.w) : net.add(c.dtype, c.w);
  task.bias.id = net.add(c.dtype, {c.w[0]});
  task.groups = c.groups;
  Dims y = {c.x[0]};
  for (size_t d = 0; d + 2 < c.x.size(); ++d) {
    task.kernel[d] = static_cast<int16_t>(c.w[d + 2]);
    task.stride[d] = c.stride;
    task.dilation[d] = c.dilation;
    task.pad[d] = c.pad;
    y.push_back(output_size(c.x[d + 1], c.w[d + 2], c.stride, c.dilation, c.pad));
  }
  y.push_back(c.w[0]);
  task.y.id = net.add(c.dtype, y, c.lie);
  task.tile_pixels = 40;
  net.add_task(task);
  return task;
}

double conv_at(Net& net, const task::ConvTask& t, task::SlotId weights, const Dims& at) {
  const task::SlotInfo &x = net.slot(t.x.id), &w = net.slot(weights);
  const size_t n_spatial = x.rank - 2U;
  Dims w_dims = w.shape();
  const int64_t per_group = w.dims[1], group = at.back() / (w.dims[0] / t.groups);
  w_dims[0] = 1;
  double sum = net.get(t.bias.id, {at.back()});
  for_each_coordinate(w_dims, [&](const Dims& tap) {
    Dims from = {at[0]}, weight = tap;
    weight[0] = at.back();
    for (size_t d = 0; d < n_spatial; ++d) {
      const int64_t i = at[d + 1] * t.stride[d] - t.pad[d] + tap[d + 2] * t.dilation[d];
      if (i < 0 || i >= x.dims[d + 1]) return;
      from.push_back(i);
    }
    from.push_back(group * per_group + tap[1]);
    sum += net.get(t.x.id, from) * net.get(weights, weight);
  });
  return sum;
}

double tolerance(DType dtype) {
  return dtype == DType::kF16 ? 4e-3 : dtype == DType::kF32 ? 1e-5 : 1e-12;
}

TEST(ConvTask, MatchesLoopsOverTaps) {
  for (const ConvCase& c : kConvCases) {
    for (const bool immutable : {false, true}) {
      SCOPED_TRACE(
          cat(join(c.x, "x"), " by ", join(c.w, "x"), " ", c.dtype, immutable ? " weight" : ""));
      Net net(41);
      const task::ConvTask task = make_conv(net, c, immutable);
      expect_result(
          net, task.y.id, [&](const Dims& at) { return conv_at(net, task, task.w.id, at); },
          tolerance(c.dtype));
    }
  }
}

TEST(ConvTask, TheEpilogueAddsAResidual) {
  Net net(43);
  task::ConvTask task = make_conv(net, kConvCases[0], true);
  task.extra[0].id = net.add(DType::kF32, net.slot(task.y.id).shape());
  using task::PointOp;
  task.epilogue = net.add_program(2, {3},
                                  {instr(PointOp::kAdd, task::Lane::kF32, 2, 0, 1),
                                   instr(PointOp::kRelu, task::Lane::kF32, 3, 2)});
  net.program.records.clear();
  net.add_task(task);
  expect_result(
      net, task.y.id,
      [&](const Dims& at) {
        return std::fmax(0, conv_at(net, task, task.w.id, at) + net.get(task.extra[0].id, at));
      },
      1e-5);
}

struct PoolCase {
  Dims x;
  int16_t kernel, stride, dilation, pad, pad_end;
  bool count_padding;
  DType dtype = DType::kF32;
  Lie lie = Lie::kDense;
};

double pool_at(Net& net, const task::PoolTask& t, const Dims& at) {
  const task::SlotInfo& x = net.slot(t.x.id);
  Dims window;
  for (size_t d = 0; d + 2 < x.rank; ++d) window.push_back(t.kernel[d]);
  double sum = 0, highest = -INFINITY;
  int64_t n = 0;
  for_each_coordinate(window, [&](const Dims& tap) {
    Dims from = {at[0]};
    bool inside = true, counted = true;
    for (size_t d = 0; d < tap.size(); ++d) {
      const int64_t i = at[d + 1] * t.stride[d] - t.pad[d] + tap[d] * t.dilation[d];
      inside = inside && i >= 0 && i < x.dims[d + 1];
      counted = counted && i >= -t.pad[d] && i < x.dims[d + 1] + t.pad_end[d];
      from.push_back(i);
    }
    n += inside || (counted && t.count_padding != 0) ? 1 : 0;
    if (!inside) return;
    from.push_back(at.back());
    sum += net.get(t.x.id, from);
    highest = std::fmax(highest, net.get(t.x.id, from));
  });
  return t.kind == task::PoolTask::Kind::kMax ? highest : sum / double(n);
}

TEST(PoolTask, MatchesLoopsOverTaps) {
  const PoolCase cases[] = {{{2, 12, 13, 20}, 3, 2, 1, 1, 1, false},
                            {{2, 12, 13, 20}, 3, 2, 1, 1, 1, true},
                            {{1, 30, 5}, 2, 2, 1, 0, 1, true},
                            {{1, 7, 7, 40}, 7, 1, 1, 0, 0, false},
                            {{1, 6, 6, 6, 3}, 2, 2, 2, 1, 1, false},
                            {{1, 9, 9, 5}, 3, 1, 1, 1, 1, false, DType::kF16, Lie::kTurned},
                            {{1, 9, 9, 5}, 3, 1, 1, 1, 1, false, DType::kF64, Lie::kGaps},
                            {{0, 9, 9, 5}, 3, 1, 1, 1, 1, false}};
  for (const PoolCase& c : cases) {
    for (const auto kind : {task::PoolTask::Kind::kMax, task::PoolTask::Kind::kAverage}) {
      SCOPED_TRACE(join(c.x, "x"));
      Net net(44);
      task::PoolTask task;
      task.kind = kind;
      task.count_padding = c.count_padding ? 1 : 0;
      task.x.id = net.add(c.dtype, c.x, c.lie);
      Dims y = {c.x[0]};
      for (size_t d = 0; d + 2 < c.x.size(); ++d) {
        task.kernel[d] = c.kernel;
        task.stride[d] = c.stride;
        task.dilation[d] = c.dilation;
        task.pad[d] = c.pad;
        task.pad_end[d] = c.pad_end;
        y.push_back((c.x[d + 1] + c.pad + c.pad_end - (c.kernel - 1) * c.dilation - 1) / c.stride +
                    1);
      }
      y.push_back(c.x.back());
      task.y.id = net.add(c.dtype, y, c.lie);
      net.add_task(task);
      expect_result(
          net, task.y.id, [&](const Dims& at) { return pool_at(net, task, at); },
          tolerance(c.dtype));
    }
  }
}

TEST(PoolTask, MaxOfIntegersIsExact) {
  Net net(45);
  task::PoolTask task;
  task.kernel = {2, 2, 1};
  task.stride = {2, 2, 1};
  task.x.id = net.add(DType::kI8, {1, 8, 8, 3});
  task.y.id = net.add(DType::kI8, {1, 4, 4, 3});
  net.add_task(task);
  expect_result(net, task.y.id, [&](const Dims& at) { return pool_at(net, task, at); }, 0);
}

}  // namespace
}  // namespace tw::cpu
