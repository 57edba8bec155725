// gemm_bf16_test.cpp: the bf16 matrix product against double, and its order of summation.
#include "backends/cpu/kernels/kernel_test_util.h"

namespace tw::cpu {
namespace {

float value(uint16_t bf16) {
  const uint32_t bits = uint32_t{bf16} << 16;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}

Guarded<uint16_t> random_bf16(const Kernels& k, std::mt19937& rng, int64_t n) {
  const Guarded<float> x = random_floats(rng, n);
  Guarded<uint16_t> y(n);
  k.convert.f32_to_bf16(x.data(), y.data(), n);
  return y;
}

struct Product {
  int64_t m, n, k;
  Guarded<uint16_t> a, b, packed;
  Guarded<float> bias, c;
  Product(const Kernels& kernels, std::mt19937& rng, int64_t rows, int64_t cols, int64_t depth)
      : m(rows),
        n(cols),
        k(depth),
        a(random_bf16(kernels, rng, m * k)),
        b(random_bf16(kernels, rng, k * n)),
        packed(kernels.packed_b_bf16_elems(k, n)),
        bias(random_floats(rng, n)),
        c(m * n) {
    kernels.pack_b_bf16(b.data(), n, 1, k, n, packed.data());
    kernels.gemm_bf16(args());
  }
  GemmBf16Args args() {
    return {.m = m,
            .n = n,
            .k = k,
            .a = a.data(),
            .lda = k,
            .b = packed.data(),
            .bias = bias.data(),
            .c = c.data(),
            .ldc = n};
  }
};

using GemmBf16Test = KernelTest;

TEST_P(GemmBf16Test, MatchesDouble) {
  constexpr int64_t kSizes[][3] = {{0, 3, 4},   {1, 1, 1},    {2, 17, 3}, {3, 64, 31},
                                   {7, 70, 64}, {13, 129, 5}, {4, 33, 0}, {20, 200, 301}};
  for (const auto& [m, n, depth] : kSizes) {
    const Product p(k(), rng, m, n, depth);
    ASSERT_TRUE(p.c.intact() && p.packed.intact());
    for (int64_t i = 0; i < m * n; ++i) {
      double sum = p.bias[i % n], magnitude = std::fabs(sum);
      for (int64_t l = 0; l < depth; ++l) {
        const double term = double(value(p.a[i / n * depth + l])) * value(p.b[l * n + i % n]);
        sum += term;
        magnitude += std::fabs(term);
      }
      ASSERT_NEAR(p.c[i], sum, 0x1p-24 * double(depth + 2) * magnitude)
          << m << ' ' << n << ' ' << depth;
    }
  }
}

TEST_P(GemmBf16Test, SumsInTheDocumentedOrder) {
  if (GetParam() == Isa::kSse42) GTEST_SKIP() << "no fused multiply-add to write the chain with";
  const Product p(k(), rng, 5, 100, 47);
  for (int64_t i = 0; i < 5 * 100; ++i) {
    float sum = 0;
    const auto add = [&](int64_t l) {
      if (l < 47) sum = std::fma(value(p.a[i / 100 * 47 + l]), value(p.b[l * 100 + i % 100]), sum);
    };
    for (int64_t l = 0; l < 47; l += 2) {
      add(k().native_bf16 ? l + 1 : l);
      add(k().native_bf16 ? l : l + 1);
    }
    ASSERT_EQ(p.c[i], sum + p.bias[i % 100]) << i;
  }
}

TEST_P(GemmBf16Test, OneRowAtATimeKeepsBits) {
  Product p(k(), rng, 17, 150, 99);
  const Guarded<float> whole = p.c;
  for (int64_t r = 0; r < 17; ++r) {
    GemmBf16Args one = p.args();
    one.m = 1;
    one.a += r * one.lda;
    one.c += r * one.ldc;
    k().gemm_bf16(one);
  }
  for (int64_t i = 0; i < whole.size(); ++i) ASSERT_TRUE(same_bits(whole[i], p.c[i])) << i;
}

INSTANTIATE_TEST_SUITE_P(Isas, GemmBf16Test, testing::ValuesIn(kAllIsas), isa_test_name);

}  // namespace
}  // namespace tw::cpu
