// kernel_test_util.h: what the tests of the kernels share: instruction sets, seeded data, guarded
// buffers, distances in ulp.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/kernels/kernels.h"

namespace tw::cpu {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A test that runs once for each instruction set of this machine.
class KernelTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (!isa_supported(GetParam())) GTEST_SKIP() << "no " << isa_name(GetParam()) << " here";
  }
  const Kernels& k() const { return kernels(GetParam()); }
  std::mt19937 rng{20240607};
};

inline std::string isa_test_name(const testing::TestParamInfo<Isa>& info) {
  return isa_name(info.param);
}

/// n elements between two bands of a known pattern; written() says whether a band was touched.
template <class T>
class Guarded {
 public:
  explicit Guarded(int64_t n, T value = T{}) : size_(size_t(n)), elems_(size_ + 2 * kBand, value) {
    std::memset(static_cast<void*>(elems_.data()), kPattern, kBand * sizeof(T));
    std::memset(static_cast<void*>(data() + size_), kPattern, kBand * sizeof(T));
  }
  T* data() { return elems_.data() + kBand; }
  const T* data() const { return elems_.data() + kBand; }
  T& operator[](int64_t i) { return data()[i]; }
  const T& operator[](int64_t i) const { return data()[i]; }
  int64_t size() const { return int64_t(size_); }
  bool intact() const {
    return band_intact(elems_.data()) && band_intact(elems_.data() + kBand + size_);
  }

 private:
  static constexpr size_t kBand = 64;
  static constexpr unsigned char kPattern = 0xa5;
  static bool band_intact(const T* band) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(band);
    return std::all_of(bytes, bytes + kBand * sizeof(T),
                       [](unsigned char b) { return b == kPattern; });
  }
  size_t size_;
  std::vector<T> elems_;
};

inline Guarded<float> random_floats(std::mt19937& rng, int64_t n, float low = -1, float high = 1) {
  std::uniform_real_distribution<float> dist(low, high);
  Guarded<float> x(n);
  for (int64_t i = 0; i < n; ++i) x[i] = dist(rng);
  return x;
}

inline int64_t random_int(std::mt19937& rng, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(rng);
}

/// Equal as bits, with any NaN equal to any other.
inline bool same_bits(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

/// Distance of `got` from the exact `want` in units of the last place of float at `want`. 0 when
/// both are NaN or the same infinity, a large number when one of them is not finite. Below
/// `smallest` the unit stays what it is there.
inline double ulp_error(float got, double want, double smallest = 0) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e30;
  const float rounded = float(want);
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    // Next to the overflow limit infinity counts as the number after the largest one.
    const double limit = 0x1p128;
    const double a = std::isinf(got) ? std::copysign(limit, double(got)) : double(got);
    return std::isnan(got) ? 1e30 : std::fabs(a - want) / 0x1p104;
  }
  if (std::isnan(got)) return 1e30;
  const int exponent = std::max(std::ilogb(std::max({std::fabs(want), smallest, 1e-300})), -126);
  return std::fabs(double(got) - want) / std::ldexp(1.0, exponent - 23);
}

}  // namespace tw::cpu
