// common_unary.h: all that a file of one-input elementwise op needs, and the cases that fit
// functions of any float.
#pragma once

#include <cmath>

#include "ops/elementwise/common_map.h"
#include "ops/elementwise/common_point.h"

namespace tw::ops {

using Cases = FixedList<std::string_view, 24>;

/// For functions defined on [-1, 1].
inline constexpr Cases kFloatCases = {"f32[1,64,768]", "f32[7]",   "f32[3,0,2]", "f32[1]",
                                      "f32[]",         "f64[3,5]", "f16[5,7]",   "bf16[9]"};
/// For functions defined on positive numbers.
inline constexpr Cases kPositiveCases = {"f32[1,64,768]>0", "f32[7]>0", "f32[3,0,2]>0",
                                         "f32[1]>0",        "f32[]>0",  "f64[3,5]>0",
                                         "f16[5,7]>0",      "bf16[9]>0"};

}  // namespace tw::ops
