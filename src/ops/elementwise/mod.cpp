// mod: the remainder, with the sign of the divisor, or of the dividend as C's fmod.
#include "ops/elementwise/common_binary.h"

namespace tw::ops {
namespace {

template <class T>
T truncated_remainder(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return std::fmod(a, b);
  if (b == T{0} || (std::is_signed_v<T> && b == static_cast<T>(-1))) return T{0};
  if constexpr (!std::is_floating_point_v<T>) return static_cast<T>(a % b);
}

template <class T>
T floored_remainder(T a, T b) {
  const T rest = truncated_remainder(a, b);
  if constexpr (std::is_unsigned_v<T>) return rest;
  return rest != T{0} && (rest < T{0}) != (b < T{0}) ? rest + b : rest;
}

std::optional<Dim> mod_dims(const Dim& a, const Dim& b) {
  if (b == Dim(0) || !is_never_negative(b)) return std::nullopt;
  return mod(a, b);
}

std::optional<Dim> fmod_dims(const Dim& a, const Dim& b) {
  return is_never_negative(a) ? mod_dims(a, b) : std::nullopt;
}

constexpr auto kFloored = [](auto a, auto b) { return floored_remainder(a, b); };
constexpr auto kTruncated = [](auto a, auto b) { return truncated_remainder(a, b); };

}  // namespace

extern constinit const ir::OpDef mod = {
    .name = "mod",
    .doc = "y = remainder of a / b with the sign of b; fmod=1: with the sign of a",
    .inputs = {"a", "b"},
    .outputs = {"y"},
    .attrs = {{"fmod", 0}},
    .onnx = {{"Mod", 10}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      return c.attr_int("fmod") != 0 ? infer_int_binary<kNumbers, kTruncated, fmod_dims>(c)
                                     : infer_int_binary<kNumbers, kFloored, mod_dims>(c);
    },
    .reference = [](ir::EvalContext& c) -> Result<void> {
      return c.attr_int("fmod") != 0 ? map_binary<kTruncated>(c) : map_binary<kFloored>(c);
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      return c.attr_int("fmod") != 0 ? emit_binary<task::PointOp::kFmod>(c)
                                     : emit_binary<task::PointOp::kMod>(c);
    },
    .cases = {"i64{7,-7,7,-7,6} i64{3,3,-3,-3,3}", "i64{7,-7,7,-7,6} i64{3,3,-3,-3,3} ; fmod=1",
              "i32[16,256] i32(7)", "i32[2,0] i32[1]", "i8{-128,100} i8{-1,7}",
              "u8[5] u8{2,3,4,5,7}", "f32{4.3,-4.3,4.3,-4.3} f32{2,2,-2,-2}",
              "f32{4.3,-4.3,4.3,-4.3} f32{2,2,-2,-2} ; fmod=1", "f32[3,7] f32[7]>0 ; fmod=1",
              "f16[5]>0 f16{0.5,1,0.25,2,4} ; fmod=1", "u64{18446744073709549568,9} u64{7,2}"},
};

}  // namespace tw::ops
