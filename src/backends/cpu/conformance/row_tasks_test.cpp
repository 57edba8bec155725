// norm, softmax, reduce, scan and sort against double loops.
#include <algorithm>
#include <cmath>

#include "backends/cpu/conformance/net.h"

namespace tw::cpu {
namespace {

struct RowCase {
  Dims dims;
  DType dtype = DType::kF32;
  Lie lie = Lie::kDense;
};

const RowCase kRowCases[] = {{{5, 384}},
                             {{2, 3, 7}},
                             {{1, 1}},
                             {{0, 8}},
                             {{40, 17}, DType::kF32, Lie::kTurned},
                             {{3, 50}, DType::kF16, Lie::kGaps},
                             {{3, 50}, DType::kF64, Lie::kGaps},
                             {{700, 33}},
                             {{9}}};

double tolerance(DType dtype) {
  return dtype == DType::kF16 ? 4e-3 : dtype == DType::kF32 ? 1e-5 : 1e-12;
}

std::vector<double> row_at(Net& net, task::SlotId x, Dims at, size_t axis) {
  std::vector<double> row;
  for (at[axis] = 0; at[axis] < net.slot(x).dims[axis]; ++at[axis]) row.push_back(net.get(x, at));
  return row;
}

TEST(NormTask, LayerNormAndItsStatistics) {
  for (const RowCase& c : kRowCases) {
    SCOPED_TRACE(cat(join(c.dims, "x"), " ", c.dtype));
    Net net(21);
    task::NormTask task;
    task.x.id = net.add(c.dtype, c.dims, c.lie);
    task.scale.id = net.add(c.dtype, {c.dims.back()});
    task.bias.id = net.add(c.dtype, {c.dims.back()});
    task.y.id = net.add(c.dtype, c.dims, c.lie);
    Dims one = c.dims;
    one.back() = 1;
    task.mean.id = net.add(DType::kF32, one);
    task.inv_std.id = net.add(DType::kF32, one);
    task.eps = 1e-3F;
    net.add_task(task);
    const auto statistics = [&](const Dims& at) {
      const std::vector<double> row = row_at(net, task.x.id, at, at.size() - 1);
      double mean = 0, square = 0;
      for (const double v : row) mean += v / double(row.size());
      for (const double v : row) square += (v - mean) * (v - mean) / double(row.size());
      return std::pair(mean, 1 / std::sqrt(square + task.eps));
    };
    expect_result(
        net, task.y.id,
        [&](const Dims& at) {
          const auto [mean, inv_std] = statistics(at);
          return (net.get(task.x.id, at) - mean) * inv_std * net.get(task.scale.id, {at.back()}) +
                 net.get(task.bias.id, {at.back()});
        },
        5 * tolerance(c.dtype));
    expect_result(net, task.mean.id, [&](const Dims& at) { return statistics(at).first; }, 1e-5);
    expect_result(
        net, task.inv_std.id, [&](const Dims& at) { return statistics(at).second; }, 1e-5);
  }
}

TEST(NormTask, RmsNorm) {
  for (const RowCase& c : kRowCases) {
    Net net(22);
    task::NormTask task;
    task.kind = task::NormTask::Kind::kRms;
    task.x.id = net.add(c.dtype, c.dims, c.lie);
    task.scale.id = net.add(c.dtype, {c.dims.back()});
    task.y.id = net.add(c.dtype, c.dims, c.lie);
    task.eps = 1e-3F;
    net.add_task(task);
    expect_result(
        net, task.y.id,
        [&](const Dims& at) {
          double square = 0;
          for (const double v : row_at(net, task.x.id, at, at.size() - 1))
            square += v * v / double(c.dims.back());
          return net.get(task.x.id, at) / std::sqrt(square + task.eps) *
                 net.get(task.scale.id, {at.back()});
        },
        5 * tolerance(c.dtype));
  }
}

TEST(SoftmaxTask, MatchesDoubleLoops) {
  for (const RowCase& c : kRowCases) {
    for (const int logarithm : {0, 1}) {
      Net net(23);
      task::SoftmaxTask task;
      task.x.id = net.add(c.dtype, c.dims, c.lie, 8);
      task.y.id = net.add(c.dtype, c.dims, c.lie);
      task.logarithm = static_cast<uint8_t>(logarithm);
      net.add_task(task);
      expect_result(
          net, task.y.id,
          [&](const Dims& at) {
            double sum = 0;
            for (const double v : row_at(net, task.x.id, at, at.size() - 1)) sum += std::exp(v);
            const double x = net.get(task.x.id, at);
            return logarithm != 0 ? x - std::log(sum) : std::exp(x) / sum;
          },
          tolerance(c.dtype));
    }
  }
}

using ReduceKind = task::ReduceTask::Kind;

double reduced(ReduceKind kind, bool last_index, const std::vector<double>& v) {
  double sum = 0, square = 0, absolute = 0, product = 1, low = INFINITY, high = -INFINITY, exps = 0;
  double arg_max = 0, arg_min = 0;
  bool any = false, all = true;
  for (size_t i = 0; i < v.size(); ++i) {
    sum += v[i];
    square += v[i] * v[i];
    absolute += std::fabs(v[i]);
    product *= v[i];
    exps += std::exp(v[i]);
    if (v[i] > high || (last_index && v[i] == high)) arg_max = double(i);
    if (v[i] < low || (last_index && v[i] == low)) arg_min = double(i);
    low = std::fmin(low, v[i]);
    high = std::fmax(high, v[i]);
    any = any || v[i] != 0;
    all = all && v[i] != 0;
  }
  const double values[] = {sum,
                           sum / double(v.size()),
                           high,
                           low,
                           product,
                           square,
                           absolute,
                           std::sqrt(square),
                           std::log(exps),
                           std::log(sum),
                           arg_max,
                           arg_min,
                           double(any),
                           double(all)};
  return values[static_cast<int>(kind)];
}

struct ReduceCase {
  Dims x;
  uint32_t axes;
  DType dtype = DType::kF32;
  Lie lie = Lie::kDense;
};

void check_reduce(const ReduceCase& c, ReduceKind kind, DType y_type, bool last_index, double tol) {
  SCOPED_TRACE(
      cat(join(c.x, "x"), " axes ", c.axes, " kind ", static_cast<int>(kind), " ", c.dtype));
  Net net(24);
  task::ReduceTask task;
  task.x.id = net.add(c.dtype, c.x, c.lie);
  Dims y = c.x;
  for (size_t d = 0; d < y.size(); ++d)
    if ((c.axes >> d & 1U) != 0) y[d] = 1;
  task.y.id = net.add(y_type, y);
  task.axes = c.axes;
  task.kind = kind;
  task.last_index = last_index ? 1 : 0;
  net.add_task(task);
  expect_result(
      net, task.y.id,
      [&](const Dims& at) {
        std::vector<double> values;
        for_each_coordinate(c.x, [&](const Dims& from) {
          for (size_t d = 0; d < at.size(); ++d)
            if ((c.axes >> d & 1U) == 0 && from[d] != at[d]) return;
          values.push_back(net.get(task.x.id, from));
        });
        return reduced(kind, last_index, values);
      },
      tol);
}

TEST(ReduceTask, FloatsOverAnyAxes) {
  const ReduceCase cases[] = {{{6, 300}, 2},
                              {{6, 300}, 1},
                              {{6, 300}, 3},
                              {{3, 4, 50}, 5},
                              {{3, 4, 50}, 2},
                              {{3, 4, 50}, 0},
                              {{700, 3}, 1},
                              {{3, 4, 50}, 6, DType::kF32, Lie::kGaps},
                              {{20, 30}, 1, DType::kF32, Lie::kTurned},
                              {{20, 30}, 2, DType::kF32, Lie::kTurned},
                              {{}, 0},
                              {{1, 1}, 3},
                              {{0, 4}, 2}};
  for (const ReduceCase& c : cases) {
    for (const ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMean, ReduceKind::kMax,
                                  ReduceKind::kMin, ReduceKind::kProd, ReduceKind::kSumSquare,
                                  ReduceKind::kSumAbs, ReduceKind::kL2, ReduceKind::kLogSumExp}) {
      check_reduce(c, kind, c.dtype, false, 3e-5);
    }
  }
  check_reduce({{6, 300}, 2, DType::kF64}, ReduceKind::kSum, DType::kF64, false, 1e-12);
  check_reduce({{6, 300}, 1, DType::kF16}, ReduceKind::kMean, DType::kF16, false, 2e-3);
}

TEST(ReduceTask, PositionsIntegersAndBools) {
  for (const bool last : {false, true}) {
    check_reduce({{7, 90}, 2}, ReduceKind::kArgMax, DType::kI64, last, 0);
    check_reduce({{7, 90}, 1, DType::kI8}, ReduceKind::kArgMin, DType::kI64, last, 0);
  }
  check_reduce({{7, 90}, 2, DType::kI32}, ReduceKind::kSum, DType::kI32, false, 0);
  check_reduce({{7, 5}, 1, DType::kI64}, ReduceKind::kMax, DType::kI64, false, 0);
  check_reduce({{7, 5}, 1, DType::kBool}, ReduceKind::kAny, DType::kBool, false, 0);
  check_reduce({{7, 5}, 2, DType::kBool}, ReduceKind::kAll, DType::kBool, false, 0);
}

TEST(ScanTask, RunningSumsBothWays) {
  for (const int axis : {0, 1, 2}) {
    for (const int way : {0, 1, 2, 3}) {
      Net net(25);
      task::ScanTask task;
      task.x.id = net.add(axis == 1 ? DType::kI32 : DType::kF32, {4, 5, 6}, Lie::kGaps);
      task.y.id = net.add(axis == 1 ? DType::kI32 : DType::kF32, {4, 5, 6});
      task.axis = static_cast<int8_t>(axis);
      task.exclusive = static_cast<uint8_t>(way & 1);
      task.reverse = static_cast<uint8_t>(way >> 1);
      net.add_task(task);
      expect_result(
          net, task.y.id,
          [&](const Dims& at) {
            const auto a = static_cast<size_t>(axis);
            double sum = 0;
            Dims from = at;
            for (from[a] = 0; from[a] < net.slot(task.x.id).dims[a]; ++from[a]) {
              const int64_t ahead = task.reverse != 0 ? from[a] - at[a] : at[a] - from[a];
              if (ahead >= task.exclusive) sum += net.get(task.x.id, from);
            }
            return sum;
          },
          1e-5);
    }
  }
}

TEST(SortTask, TheBestOfEachRowTiesToTheLowerIndex) {
  for (const DType dtype : {DType::kF32, DType::kI8, DType::kF64}) {
    for (const int largest : {0, 1}) {
      Net net(26);
      task::SortTask task;
      task.x.id = net.add(dtype, {30, 300}, Lie::kGaps);
      task.values.id = net.add(dtype, {30, 7});
      task.index.id = net.add(DType::kI64, {30, 7});
      task.largest = static_cast<uint8_t>(largest);
      net.add_task(task);
      const auto order = [&](int64_t row) {
        std::vector<int64_t> places(300);
        for (size_t i = 0; i < places.size(); ++i) places[i] = int64_t(i);
        std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
          const double x = net.get(task.x.id, {row, a}), y = net.get(task.x.id, {row, b});
          return largest != 0 ? x > y : x < y;
        });
        return places;
      };
      expect_result(
          net, task.index.id, [&](const Dims& at) { return double(order(at[0])[size_t(at[1])]); },
          0);
      expect_result(
          net, task.values.id,
          [&](const Dims& at) { return net.get(task.x.id, {at[0], order(at[0])[size_t(at[1])]}); },
          0);
    }
  }
}

}  // namespace
}  // namespace tw::cpu
