// isa.h: the instruction sets that the CPU kernels are compiled for, and which of them this machine
// has.
//
// The names follow the psABI micro-architecture levels. A level is "supported" when every feature
// that the compiler may use for it is there and the operating system saves its registers.
#pragma once

#include <cstdint>

namespace tw::cpu {

enum class Isa : uint8_t {
  kSse42,   // x86-64-v2: no FMA, a multiply and an add are two roundings
  kAvx2,    // x86-64-v3: AVX2, FMA, F16C
  kAvx512,  // x86-64-v4: AVX-512 F, BW, CD, DQ, VL
};

inline constexpr Isa kAllIsas[] = {Isa::kSse42, Isa::kAvx2, Isa::kAvx512};

/// "sse42", "avx2" or "avx512": the words that `--isa` takes.
const char* isa_name(Isa isa);

/// The widest that is used, whatever the machine has. Only test programs narrow it.
Isa isa_limit();

/// Whether this machine can run the kernels of `isa`.
bool isa_supported(Isa isa);

/// The widest supported one. kSse42 is the floor: it is returned even where `isa_supported` would
/// say no.
Isa best_isa();

/// Whether this machine has the AVX512_BF16 dot products.
bool has_avx512_bf16();

}  // namespace tw::cpu
