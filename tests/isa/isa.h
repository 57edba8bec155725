// isa.h: which machine a test program plays. `NAME_test --isa avx2` runs as on one that has AVX2
// and nothing wider; ctest runs every suite that computes so (label isa).
#pragma once

#include <string>

namespace tw {

/// The word of --isa; "" without it: the machine as it is.
const std::string& isa_of_test();

}  // namespace tw
