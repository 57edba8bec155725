#include <algorithm>
#include <cmath>

#include "backends/cpu/tasks/row_loop.h"
#include "backends/cpu/tasks/tasks.h"

namespace tw::cpu {
namespace {

void softmax_f64(const double* x, double* y, int64_t n, bool logarithm) {
  const double highest = *std::max_element(x, x + n);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - highest);
  for (int64_t i = 0; i < n; ++i) {
    y[i] = logarithm ? x[i] - highest - std::log(sum) : std::exp(x[i] - highest) / sum;
  }
}

}  // namespace

Result<void> run(const task::SoftmaxTask& task, const TaskContext& context, int64_t begin,
                 int64_t end) {
  const RowKernels& kernels = context.kernels->row;
  const bool logarithm = task.logarithm != 0;
  for (int64_t i = begin; i < end; ++i) {
    const task::Box box = task.tile(context.slots, i);
    if (context.slot(task.x.id).dtype == DType::kF64) {
      for_each_row<double>(
          context, task.x.id, task.y.id, box,
          [&](const double* x, double* y, int64_t n, int64_t) { softmax_f64(x, y, n, logarithm); });
      continue;
    }
    for_each_row<float>(context, task.x.id, task.y.id, box,
                        [&](const float* x, float* y, int64_t n, int64_t) {
                          if (logarithm) {
                            kernels.log_softmax(x, y, n);
                          } else {
                            kernels.softmax(x, nullptr, 1.0F, y, n);
                          }
                        });
  }
  return {};
}

}  // namespace tw::cpu
