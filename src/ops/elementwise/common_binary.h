// common_binary.h: all that a file of a two-input elementwise op needs, and the cases of
// broadcasting.
#pragma once

#include <cmath>

#include "ops/elementwise/common_ints.h"
#include "ops/elementwise/common_map.h"
#include "ops/elementwise/common_point.h"

namespace tw::ops {

using Cases = FixedList<std::string_view, 24>;

/// Of max and min.
inline constexpr Cases kExtremumCases = {
    "f32[1,64,768] f32[768]",
    "f32[7] f32[4,1,7] f32[1]",
    "f32[2,0] f32[1]",
    "f32[3]",
    "f32[] f32[5]",
    "f64[3] f64[3]",
    "f16[5,7] f16[7]",
    "bf16[9] bf16[9] bf16[9]",
    "i32[3,5] i32[5]",
    "i8{-1,1} i8{1,-1}",
    "u8[5] u8[5]",
    "u64{18446744073709549568,1} u64{1,2}",
};

/// Equal shapes, a row, a column, added dims, both sides stretched, an empty dim, scalars; floats
/// and integers.
inline constexpr Cases kNumberPairCases = {
    "f32[1,64,768] f32[768]",  "f32[3,5] f32[3,5]", "f32[2,3,5] f32[3,1]", "f32[7] f32[4,1,7]",
    "f32[4,1] f32[1,3]",       "f32[2,0] f32[1]",   "f32[] f32[]",         "f32[5] f32[]",
    "f64[3] f64[3]",           "f16[5,7] f16[7]",   "bf16[9] bf16[9]",     "i32[3,5] i32[5]",
    "i64[7] i64[1]",           "u8[5] u8[5]",       "i8[4,3] i8[4,3]",     "u64[3] u64{3,1,2}",
    "i64{6,-7,7} i64{4,2,-2}",
};
/// The same for bool.
inline constexpr Cases kBoolPairCases = {"bool[4,16,16] bool[16,16]", "bool[3,5] bool[5]",
                                         "bool[2,0] bool[1]", "bool[] bool[7]",
                                         "bool[4,1] bool[1,3]"};
/// The same for integers.
inline constexpr Cases kIntPairCases = {
    "i32[16,256] i32[256]", "i64[3,5] i64[5]", "u8[2,0] u8[1]", "u16[7] u16[]",
    "i8[4,1] i8[1,3]",      "u64[3] u64[3]",   "u32[5] u32[5]", "i32{-1,-128,5} i32{3,77,-6}"};

}  // namespace tw::ops
