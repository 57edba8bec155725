// isa_limit.cpp: alone in its file, so that a test program can link another answer (tests/isa) and
// be what it would be on a smaller machine.
#include "backends/cpu/kernels/isa.h"

namespace tw::cpu {

Isa isa_limit() { return Isa::kAvx512; }

}  // namespace tw::cpu
