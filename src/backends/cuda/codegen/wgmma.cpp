#include "backends/cuda/codegen/wgmma.h"

#include "base/cat.h"

namespace tw::cuda {

std::string wgmma_step(DType dtype, int cols) {
  const int n = cols / 2;
  const std::string_view type = dtype == DType::kF16 ? "f16" : "bf16";
  std::string list, operands;
  for (int i = 0; i < n; ++i) {
    list += cat(i == 0 ? "" : ", ", "%", i);
    operands += cat(i == 0 ? "" : ", ", "\"+f\"(d[", i, "])");
  }
  return cat("TW_DEVICE void wgmma_step(float (&d)[", n,
             "], bool adds, uint64_t a, uint64_t b) {\n",
             "  asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %", n + 2,
             ", 0; wgmma.mma_async.sync.aligned.m64n", cols, "k16.f32.", type, ".", type, " {",
             list, "}, %", n, ", %", n + 1, ", p, 1, 1, 0, 0; }\"\n      : ", operands,
             "\n      : \"l\"(a), \"l\"(b), \"r\"(static_cast<int>(adds)));\n}\n");
}

}  // namespace tw::cuda
