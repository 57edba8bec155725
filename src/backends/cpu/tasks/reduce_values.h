// reduce_values.h: one result of a reduction from its elements, gathered in row-major order.
#pragma once

#include "backends/cpu/kernels/kernels.h"
#include "task/kinds.h"

namespace tw::cpu {

/// Writes the reduction of values[0..n) to `y` as an element of `y_type`. `x_type` is what the
/// values were stored as (u64 compares as unsigned). May overwrite the values.
void reduce_values(const task::ReduceTask& task, const Kernels& kernels, DType x_type,
                   float* values, int64_t n, DType y_type, std::byte* y);
void reduce_values(const task::ReduceTask& task, const Kernels& kernels, DType x_type,
                   double* values, int64_t n, DType y_type, std::byte* y);
void reduce_values(const task::ReduceTask& task, const Kernels& kernels, DType x_type,
                   int64_t* values, int64_t n, DType y_type, std::byte* y);

}  // namespace tw::cpu
