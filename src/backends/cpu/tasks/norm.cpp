#include <cmath>

#include "backends/cpu/float_rows.h"
#include "backends/cpu/tasks/row_loop.h"
#include "backends/cpu/tasks/tasks.h"

namespace tw::cpu {
namespace {

template <class Lane>
struct Parameters {
  const Lane* scale;
  const Lane* bias;
  float eps;

  Parameters(const task::NormTask& task, const TaskContext& context)
      : scale(vector_of<Lane>(context, task.scale.id)),
        bias(vector_of<Lane>(context, task.bias.id)),
        eps(task.eps) {}
};

/// The statistics that layer norm keeps to itself, in the order of its own sums.
struct Statistics {
  float mean, inv_std;
};

Statistics statistics(const Kernels& kernels, Scratch& scratch, const float* x, int64_t n,
                      float eps) {
  const ScratchScope scope(scratch);
  auto* centred = scratch.take<float>(n);
  const float mean = kernels.reduce.sum(x, n) / static_cast<float>(n);
  kernels.binary.sub.vs(x, mean, centred, n);
  const float variance = kernels.reduce.sum_sq(centred, n) / static_cast<float>(n);
  return {mean, 1.0F / std::sqrt(variance + eps)};
}

void norm_row(const task::NormTask& task, const Kernels& kernels, const Parameters<float>& p,
              const float* x, float* y, int64_t n) {
  if (task.kind == task::NormTask::Kind::kLayer) {
    kernels.row.layer_norm(x, p.scale, p.bias, p.eps, y, n);
    return;
  }
  kernels.row.rms_norm(x, p.scale, p.eps, y, n);
  if (p.bias != nullptr) kernels.binary.add.vv(y, p.bias, y, n);
}

void run_f32(const task::NormTask& task, const TaskContext& context, const task::Box& box) {
  const Kernels& kernels = *context.kernels;
  const ScratchScope scope(*context.scratch);
  const Parameters<float> p(task, context);
  const bool wants_statistics = task.mean.id != task::kNoSlot || task.inv_std.id != task::kNoSlot;
  task::Box row_box = box;
  row_box.end[row_box.end.size() - 1] = 1;
  const RowStores means(context, task.mean.id, row_box);
  const RowStores deviations(context, task.inv_std.id, row_box);
  for_each_row<float>(context, task.x.id, task.y.id, box,
                      [&](const float* x, float* y, int64_t n, int64_t row) {
                        // Before the row, which may be the input's own memory.
                        if (wants_statistics) {
                          const Statistics s = statistics(kernels, *context.scratch, x, n, p.eps);
                          means.put(kernels, row, s.mean);
                          deviations.put(kernels, row, s.inv_std);
                        }
                        norm_row(task, kernels, p, x, y, n);
                      });
}

void run_f64(const task::NormTask& task, const TaskContext& context, const task::Box& box) {
  const ScratchScope scope(*context.scratch);
  const Parameters<double> p(task, context);
  task::Box row_box = box;
  row_box.end[row_box.end.size() - 1] = 1;
  const RowStores means(context, task.mean.id, row_box);
  const RowStores deviations(context, task.inv_std.id, row_box);
  const bool layer = task.kind == task::NormTask::Kind::kLayer;
  for_each_row<double>(
      context, task.x.id, task.y.id, box, [&](const double* x, double* y, int64_t n, int64_t row) {
        double mean = 0, squares = 0;
        for (int64_t i = 0; layer && i < n; ++i) mean += x[i];
        mean /= static_cast<double>(n);
        for (int64_t i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
        const double factor = 1 / std::sqrt(squares / static_cast<double>(n) + p.eps);
        means.put(*context.kernels, row, mean);
        deviations.put(*context.kernels, row, factor);
        for (int64_t i = 0; i < n; ++i) {
          y[i] = (x[i] - mean) * factor;
          if (p.scale != nullptr) y[i] *= p.scale[i];
          if (p.bias != nullptr) y[i] += p.bias[i];
        }
      });
}

}  // namespace

Result<void> run(const task::NormTask& task, const TaskContext& context, int64_t begin,
                 int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const task::Box box = task.tile(context.slots, i);
    if (context.slot(task.x.id).dtype == DType::kF64) {
      run_f64(task, context, box);
    } else {
      run_f32(task, context, box);
    }
  }
  return {};
}

}  // namespace tw::cpu
