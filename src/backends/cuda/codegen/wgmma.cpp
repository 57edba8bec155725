#include "backends/cuda/codegen/wgmma.h"

#include "base/cat.h"

namespace tw::cuda {

namespace {

/// How a comes: the function's name and parameter, the operands of the instruction, whether they
/// may be transposed.
struct Side {
  std::string_view name, parameter, operands;
  int n_operands;
  std::string_view transposes;
};

std::string step(DType dtype, int cols, const Side& a) {
  const int n = cols / 2;
  const std::string_view type = dtype == DType::kF16 ? "f16" : "bf16";
  std::string list, operands, a_list;
  for (int i = 0; i < n; ++i) {
    list += cat(i == 0 ? "" : ", ", "%", i);
    operands += cat(i == 0 ? "" : ", ", "\"+f\"(d[", i, "])");
  }
  for (int i = 0; i < a.n_operands; ++i) a_list += cat(i == 0 ? "" : ", ", "%", n + i);
  if (a.n_operands > 1) a_list = cat("{", a_list, "}");
  const int b = n + a.n_operands;
  return cat("TW_DEVICE void ", a.name, "(float (&d)[", n, "], bool adds, ", a.parameter,
             ", uint64_t b) {\n  asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %", b + 1,
             ", 0; wgmma.mma_async.sync.aligned.m64n", cols, "k16.f32.", type, ".", type, " {",
             list, "}, ", a_list, ", %", b, ", p, 1, 1, ", a.transposes,
             "; }\"\n      : ", operands, "\n      : ", a.operands,
             ", \"l\"(b), \"r\"(static_cast<int>(adds)));\n}\n");
}

}  // namespace

std::string wgmma_step(DType dtype, int cols) {
  return step(dtype, cols, {"wgmma_step", "uint64_t a", "\"l\"(a)", 1, "0, 0"});
}

std::string wgmma_rows_step(DType dtype, int cols) {
  return step(dtype, cols,
              {"wgmma_rows_step", "const uint32_t (&a)[4]",
               "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])", 4, "0"});
}

}  // namespace tw::cuda
