// main() of the tests that compute: GoogleTest's, and --isa.
#include "isa.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "backends/cpu/kernels/isa.h"

namespace {

constexpr int kSkipped = 77;  // ctest reports it as skipped
std::string g_isa;            // NOLINT: set once, before any test

}  // namespace

namespace tw {

const std::string& isa_of_test() { return g_isa; }

namespace cpu {

Isa isa_limit() {
  for (const Isa isa : kAllIsas)
    if (g_isa == isa_name(isa)) return isa;
  return Isa::kAvx512;
}

}  // namespace cpu
}  // namespace tw

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc == 3 && std::strcmp(argv[1], "--isa") == 0) g_isa = argv[2];
  const char* runs_on = tw::cpu::isa_name(tw::cpu::best_isa());
  if (!g_isa.empty() && g_isa != runs_on) {
    std::printf("skipped: asked for %s, found %s\n", g_isa.c_str(), runs_on);
    return kSkipped;
  }
  std::printf("instruction set: %s\n", runs_on);
  return RUN_ALL_TESTS();
}
