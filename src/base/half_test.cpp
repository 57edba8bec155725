// Conversions of small floats at the ends of their ranges; kernels are compared with these.
#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tw {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Half, InfinitiesStayInfinitiesWithTheirSign) {
  EXPECT_EQ(f32_to_f16(kInf), 0x7c00);
  EXPECT_EQ(f32_to_f16(-kInf), 0xfc00);
  EXPECT_EQ(f32_to_bf16(kInf), 0x7f80);
  EXPECT_EQ(f32_to_bf16(-kInf), 0xff80);
}

TEST(Half, WhatIsBeyondF16BecomesInfinity) {
  EXPECT_EQ(f32_to_f16(65504.0F), 0x7bff);
  EXPECT_EQ(f32_to_f16(65519.0F), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7c00);
  EXPECT_EQ(f32_to_f16(-1e30F), 0xfc00);
}

TEST(Half, EightBitFloatsSaturate) {
  for (const float value : {kInf, 1e30F, 500.0F}) {
    EXPECT_EQ(f8e4m3_to_f32(f32_to_f8e4m3(value)), 448.0F);
    EXPECT_EQ(f8e4m3_to_f32(f32_to_f8e4m3(-value)), -448.0F);
  }
  for (const float value : {kInf, 1e30F, 6e4F}) {
    EXPECT_EQ(f8e5m2_to_f32(f32_to_f8e5m2(value)), 57344.0F);
    EXPECT_EQ(f8e5m2_to_f32(f32_to_f8e5m2(-value)), -57344.0F);
  }
}

TEST(Half, EveryF16ComesBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = f16_to_f32(static_cast<uint16_t>(bits));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(value))));
    else
      EXPECT_EQ(f32_to_f16(value), bits);
  }
}

}  // namespace
}  // namespace tw
