// roofline.h: the least time that a task can take on one H200.
#pragma once

#include "task/record.h"

namespace tw::cli {

/// Microseconds: the larger of the bytes of its operands, each moved once at the rate of the
/// memory, and its multiplications and additions at the rate of the tensor cores (f16, bf16), or of
/// the plain units (f32).
double floor_us(const task::Record& record, task::Slots slots);

}  // namespace tw::cli
