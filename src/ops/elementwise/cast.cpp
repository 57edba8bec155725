// cast: converts to another type. Floats round to nearest even and saturate in fp8; floats become
// integers by dropping the fraction; anything but 0 is true.
#include <algorithm>

#include "ops/elementwise/common_binary.h"
#include "ops/elementwise/common_dtype.h"

namespace tw::ops {
namespace {

Result<void> import_cast(ir::ImportContext& c) {
  const DType to = TRY(dtype_from_onnx(c.attr_int("to", 0)).in("attribute 'to'"));
  const bool is_fp8 = to == DType::kF8E4M3 || to == DType::kF8E5M2;
  if (is_fp8 && c.attr_int("saturate", 1) == 0)
    return error(Code::kUnsupported, "attribute 'saturate' is 0, expected 1: conversions to ", to,
                 " saturate");
  for (const std::string_view name : {"to", "saturate", "round_mode"})
    if (const auto found = c.attrs().find(name); found != c.attrs().end()) c.attrs().erase(found);
  c.set_out(0, TRY(c.b().op("cast", {c.in(0)}, {{"to", std::string(dtype_name(to))}})));
  return {};
}

/// What `x`, a known integer, is in type `to`; expressions are sizes, which fit in any integer type
/// of use to a shape.
std::optional<Dim> convert(const Dim& x, DType to) {
  if (x.is_constant()) return Dim(wrap_int(to, x.constant()));
  return to == DType::kBool ? select(x, Dim(1), Dim(0)) : x;
}

void convert_element(const Tensor& x, Tensor& y, int64_t i) {
  const DType from = x.dtype();
  const DType to = y.dtype();
  if (to == DType::kBool)
    return y.set_int(i, is_float(from) ? x.float_at(i) != 0 : x.int_at(i) != 0);
  if (!is_float(from) && !is_float(to)) return y.set_int(i, x.int_at(i));
  const double value = x.float_at(i);
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (to == DType::kU64 && value >= kTwoTo63) {
    const double excess = std::min(value - kTwoTo63, 9223372036854774784.0);  // below 2^63
    return write_number(y, i, static_cast<uint64_t>(excess) + (uint64_t{1} << 63));
  }
  y.set_float(i, value);
}

}  // namespace

extern constinit const ir::OpDef cast = {
    .name = "cast",
    .doc = "y = x in the type `to` (a name such as f16)",
    .inputs = {"x"},
    .outputs = {"y"},
    .attrs = {{"to", {}}},
    .onnx = {{"Cast", 6, import_cast}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      const std::string name = c.attr_string("to");
      const auto to = find_dtype(name);
      if (!to)
        return error(Code::kInvalidModel, "attribute 'to' is '", name,
                     "', expected the name of a type");
      c.out(0, {*to, c.shape(0)});
      propagate_ints(c, [to](std::span<const Dim> x) { return convert(x[0], *to); });
      return {};
    },
    .reference = [](ir::EvalContext& c) -> Result<void> {
      for (int64_t i = 0; i < c.in(0).count(); ++i) convert_element(c.in(0), c.out(0), i);
      return {};
    },
    .pointwise = [](PointwiseContext& c) -> Result<void> {
      c.set_out(c.cast(c.in(0), c.in_type(0).dtype, c.out_type().dtype));
      return {};
    },
    .cases = {"f32[1,64,768] ; to=\"f16\"",
              "f32[7] ; to=\"bf16\"",
              "f32[3,0,2] ; to=\"i64\"",
              "f32[] ; to=\"f64\"",
              "f32{-1.5,-0.5,0,0.5,7.9} ; to=\"i32\"",
              "f32{-2,0,0.25,nan} ; to=\"bool\"",
              "i64{-1,0,256,70000} ; to=\"u8\"",
              "i64[3,5] ; to=\"f32\"",
              "bool[7] ; to=\"f32\"",
              "bool[7] ; to=\"i64\"",
              "i32{-3,0,4} ; to=\"bool\"",
              "f16[5] ; to=\"f32\"",
              "bf16[5] ; to=\"f32\"",
              "u64{18446744073709549568} ; to=\"f32\"",
              "f64[9] ; to=\"f16\"",
              "f32{1000,0.3,-7} ; to=\"f8e4m3\"",
              "f32[5] ; to=\"f8e5m2\"",
              "u8[5] ; to=\"i32\"",
              "f32{inf,1e19,-1} ; to=\"u64\"",
              "f32[5] ; to=\"f32\""},
};

}  // namespace tw::ops
