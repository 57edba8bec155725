// row_test.cpp: reductions, softmax and normalisations of rows against double.
#include "backends/cpu/kernels/kernel_test_util.h"

namespace tw::cpu {
namespace {

constexpr double kEps = 0x1p-24;

/// The order that the header promises, written out.
template <class F, class Op>
float in_lanes(const Guarded<float>& x, float start, F f, Op op) {
  float lane[32];
  std::fill_n(lane, 32, start);
  for (int64_t i = 0; i < x.size(); ++i) lane[i % 32] = op(lane[i % 32], f(x[i]));
  for (int half = 16; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) lane[j] = op(lane[j], lane[j + half]);
  }
  return lane[0];
}

float same(float x) { return x; }
float square(float x) { return x * x; }
float plus(float a, float b) { return a + b; }
float times(float a, float b) { return a * b; }
float larger(float a, float b) { return std::max(a, b); }
float smaller(float a, float b) { return std::min(a, b); }

using RowTest = KernelTest;

TEST_P(RowTest, ReductionsHaveTheBitsOfThePromisedOrder) {
  for (int64_t n = 0; n < 200; ++n) {
    const Guarded<float> x = random_floats(rng, n, 0.5f, 1.6f);
    const ReduceKernels& r = k().reduce;
    ASSERT_EQ(r.sum(x.data(), n), in_lanes(x, 0, same, plus)) << n;
    ASSERT_EQ(r.sum_sq(x.data(), n), in_lanes(x, 0, square, plus)) << n;
    ASSERT_EQ(r.sum_abs(x.data(), n), in_lanes(x, 0, same, plus)) << n;
    ASSERT_EQ(r.prod(x.data(), n), in_lanes(x, 1, same, times)) << n;
    ASSERT_EQ(r.max(x.data(), n), in_lanes(x, -kInf, same, larger)) << n;
    ASSERT_EQ(r.min(x.data(), n), in_lanes(x, kInf, same, smaller)) << n;
  }
}

TEST_P(RowTest, MaxAndMinFindNanAnywhere) {
  for (int64_t at = 0; at < 77; ++at) {
    Guarded<float> x = random_floats(rng, 77);
    x[at] = kNan;
    EXPECT_TRUE(std::isnan(k().reduce.max(x.data(), 77))) << at;
    EXPECT_TRUE(std::isnan(k().reduce.min(x.data(), 77))) << at;
  }
}

TEST_P(RowTest, AccumulationAppliesOneStep) {
  for (int64_t n : {0, 1, 15, 16, 50}) {
    const Guarded<float> x = random_floats(rng, n), start = random_floats(rng, n);
    const AccumulateKernels& a = k().accumulate;
    const auto expect = [&](AccumulateFn fn, auto reference) {
      Guarded<float> acc = start;
      fn(x.data(), acc.data(), n);
      ASSERT_TRUE(acc.intact());
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(acc[i], reference(start[i], x[i]));
    };
    expect(a.sum, plus);
    expect(a.prod, times);
    expect(a.max, larger);
    expect(a.min, smaller);
    expect(a.sum_sq, [](float s, float v) { return s + v * v; });
    expect(a.sum_abs, [](float s, float v) { return s + std::fabs(v); });
  }
}

TEST_P(RowTest, SoftmaxMatchesDouble) {
  for (int64_t n : {1, 2, 7, 16, 31, 33, 100, 1000}) {
    const Guarded<float> x = random_floats(rng, n, -20, 20);
    Guarded<float> mask = random_floats(rng, n, -2, 2), y(n);
    if (n > 2) mask[n / 2] = -kInf;
    k().row.softmax(x.data(), mask.data(), 0.25f, y.data(), n);
    double top = -kInf, sum = 0;
    const auto input = [&](int64_t i) { return double(x[i]) * 0.25 + double(mask[i]); };
    for (int64_t i = 0; i < n; ++i) top = std::max(top, input(i));
    for (int64_t i = 0; i < n; ++i) sum += std::exp(input(i) - top);
    ASSERT_TRUE(y.intact());
    // The exponent's absolute error is that of numbers up to 16; the sum adds n roundings.
    const double relative = kEps * (4 * 16 + double(n));
    for (int64_t i = 0; i < n; ++i) {
      const double want = std::exp(input(i) - top) / sum;
      ASSERT_NEAR(y[i], want, want * relative) << n;
    }
  }
}

TEST_P(RowTest, SoftmaxOfLargeAndMaskedRowsIsFinite) {
  const float x[] = {3e38f, 1.0f, -3e38f, -kInf};
  float y[4];
  k().row.softmax(x, nullptr, 1.0f, y, 4);
  EXPECT_EQ(y[0], 1.0f);
  EXPECT_EQ(y[1] + y[2] + y[3], 0.0f);
  const float masked[] = {-kInf, -kInf};
  k().row.softmax(masked, nullptr, 1.0f, y, 2);
  EXPECT_TRUE(std::isnan(y[0]));
}

TEST_P(RowTest, LogSoftmaxMatchesDouble) {
  for (int64_t n : {1, 3, 16, 37, 513}) {
    const Guarded<float> x = random_floats(rng, n, -9, 9);
    Guarded<float> y(n);
    k().row.log_softmax(x.data(), y.data(), n);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::exp(double(x[i]));
    ASSERT_TRUE(y.intact());
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_NEAR(y[i], double(x[i]) - std::log(sum), kEps * (4 * 32 + double(n))) << n;
    }
  }
}

TEST_P(RowTest, NormalisationsMatchDouble) {
  for (int64_t n : {1, 2, 15, 16, 33, 384, 1000}) {
    const Guarded<float> x = random_floats(rng, n, -1, 3), gamma = random_floats(rng, n),
                         beta = random_floats(rng, n);
    Guarded<float> layer(n), rms(n), plain = x;
    k().row.layer_norm(x.data(), gamma.data(), beta.data(), 1e-5f, layer.data(), n);
    k().row.rms_norm(x.data(), gamma.data(), 1e-5f, rms.data(), n);
    k().row.rms_norm(plain.data(), nullptr, 1e-5f, plain.data(), n);
    double mean = 0, variance = 0, square_mean = 0;
    for (int64_t i = 0; i < n; ++i) mean += double(x[i]) / double(n);
    for (int64_t i = 0; i < n; ++i) {
      variance += (double(x[i]) - mean) * (double(x[i]) - mean) / double(n);
      square_mean += double(x[i]) * double(x[i]) / double(n);
    }
    ASSERT_TRUE(layer.intact() && rms.intact() && plain.intact());
    // A row of one element has no variance: its rounding is divided by sqrt(eps).
    const double tolerance = kEps * (32 + double(n)) * (n == 1 ? 320 : 8);
    for (int64_t i = 0; i < n; ++i) {
      const double centred = (double(x[i]) - mean) / std::sqrt(variance + 1e-5);
      const double scaled = double(x[i]) / std::sqrt(square_mean + 1e-5);
      ASSERT_NEAR(layer[i], centred * double(gamma[i]) + double(beta[i]), tolerance) << n;
      ASSERT_NEAR(rms[i], scaled * double(gamma[i]), tolerance) << n;
      ASSERT_NEAR(plain[i], scaled, tolerance) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, RowTest, testing::ValuesIn(kAllIsas), isa_test_name);

}  // namespace
}  // namespace tw::cpu
