// half.h: 16- and 8-bit floats as bits, converted with round to nearest even. Scalar and obvious;
// vector code has its own.
#pragma once

#include <cstdint>

namespace tw {

float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);
float bf16_to_f32(uint16_t bits);
uint16_t f32_to_bf16(float value);
/// OCP FP8. E4M3 has no infinity (0x7f is NaN); conversions saturate to +-448 and +-57344.
float f8e4m3_to_f32(uint8_t bits);
uint8_t f32_to_f8e4m3(float value);
float f8e5m2_to_f32(uint8_t bits);
uint8_t f32_to_f8e5m2(float value);

}  // namespace tw
