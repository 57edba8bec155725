// cast_like: converts to the type of another tensor, whose elements have no say.
#include "ops/elementwise/common_types.h"

namespace tw::ops {

extern constinit const ir::OpDef cast_like = {
    .name = "cast_like",
    .doc = "y = x in the type of `target`",
    .inputs = {"x", "target"},
    .outputs = {"y"},
    .onnx = {{"CastLike", 15,
              [](ir::ImportContext& c) -> Result<void> {
                if (!c.has(1)) return error(Code::kInvalidModel, "input 'target' is missing");
                const DType to = c.value(1).type.dtype;
                if (to == DType::kF8E4M3 || to == DType::kF8E5M2)
                  if (c.attr_int("saturate", 1) == 0)
                    return error(Code::kUnsupported,
                                 "attribute 'saturate' is 0, expected 1: conversions to ", to,
                                 " saturate");
                for (const std::string_view name : {"saturate", "round_mode"})
                  if (const auto found = c.attrs().find(name); found != c.attrs().end())
                    c.attrs().erase(found);
                c.set_out(0, TRY(c.b().op("cast_like", {c.in(0), c.in(1)})));
                return {};
              }}},

    .infer = [](ir::InferContext& c) -> Result<void> {
      c.out(0, {c.in(1).dtype, c.shape(0)});
      if (const auto* known = c.ints(0); known != nullptr && c.in(0).dtype == c.in(1).dtype)
        c.out_ints(0, *known);
      return {};
    },
    .decompose = [](ir::DecomposeContext& c) -> Result<void> {
      c.set_out(
          0, TRY(c.b().op("cast", {c.in(0)}, {{"to", std::string(dtype_name(c.type(1).dtype))}})));
      return {};
    },
    .cases = {"f32[16,256] f16[1]", "f32[7] i64[2,0]", "i64[3,0] f32[]", "bool[5] f32[1]",
              "f16[1] f32[3]", "bf16[3] bool[1]"},
};

}  // namespace tw::ops
