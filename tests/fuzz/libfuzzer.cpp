// A fuzzer's functions as libFuzzer calls them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "driver.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tw::fuzz::try_input({reinterpret_cast<const char*>(data), size});
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  tw::fuzz::Random random(seed);
  const tw::fuzz::Bytes input(reinterpret_cast<const char*>(data), size);
  const tw::fuzz::Bytes made = tw::fuzz::mutate(input, input, random);
  const size_t made_size = std::min(made.size(), max_size);
  std::memcpy(data, made.data(), made_size);
  return made_size;
}
