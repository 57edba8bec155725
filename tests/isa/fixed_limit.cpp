// The command line program of a machine that has TW_ISA_LIMIT and nothing wider.
#include "backends/cpu/kernels/isa.h"

namespace tw::cpu {

Isa isa_limit() { return Isa::TW_ISA_LIMIT; }

}  // namespace tw::cpu
