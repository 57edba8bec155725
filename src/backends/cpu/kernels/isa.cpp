// isa.cpp: asks the processor, and the operating system by XGETBV, which instruction sets may be
// used.
#include "backends/cpu/kernels/isa.h"

#include <cpuid.h>

namespace tw::cpu {
namespace {

struct Leaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Leaf cpuid(unsigned leaf, unsigned subleaf) {
  Leaf r;
  if (__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

constexpr bool has(unsigned word, unsigned bits) { return (word & bits) == bits; }

/// The register states that the operating system saves; 0 without XSAVE.
unsigned saved_states() {
  if (!has(cpuid(1, 0).ecx, bit_OSXSAVE)) return 0;
  unsigned low = 0, high = 0;  // NOLINT(misc-const-correctness): the instruction writes both
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

constexpr unsigned kYmmStates = 0x06;  // SSE and AVX
constexpr unsigned kZmmStates = 0xe6;  // and the mask and upper registers

bool has_sse42() { return has(cpuid(1, 0).ecx, bit_SSE3 | bit_SSSE3 | bit_SSE4_2 | bit_POPCNT); }

bool has_avx2() {
  return has_sse42() && has(saved_states(), kYmmStates) &&
         has(cpuid(1, 0).ecx, bit_AVX | bit_FMA | bit_F16C | bit_MOVBE) &&
         has(cpuid(7, 0).ebx, bit_AVX2 | bit_BMI | bit_BMI2) &&
         has(cpuid(0x80000001, 0).ecx, bit_LZCNT);
}

bool has_avx512() {
  return has_avx2() && has(saved_states(), kZmmStates) &&
         has(cpuid(7, 0).ebx,
             bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
}

}  // namespace

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kSse42:
      return "sse42";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "unknown";
}

bool isa_supported(Isa isa) {
  if (isa > isa_limit()) return false;
  switch (isa) {
    case Isa::kSse42:
      return has_sse42();
    case Isa::kAvx2:
      return has_avx2();
    case Isa::kAvx512:
      return has_avx512();
  }
  return false;
}

Isa best_isa() {
  if (isa_supported(Isa::kAvx512)) return Isa::kAvx512;
  return isa_supported(Isa::kAvx2) ? Isa::kAvx2 : Isa::kSse42;
}

bool has_avx512_bf16() {
  return isa_supported(Isa::kAvx512) && has(cpuid(7, 1).eax, bit_AVX512BF16);
}

}  // namespace tw::cpu
