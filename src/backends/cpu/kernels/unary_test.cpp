// unary_test.cpp: functions of one argument against the C library in double, over a sample of all
// floats.
//
// The limits are the largest errors seen over every float (the disabled test does that run),
// rounded up to a tenth.
#include "backends/cpu/kernels/kernel_test_util.h"

namespace tw::cpu {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }
double softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
double gelu_erf(double x) { return x * 0.5 * std::erfc(-x * std::sqrt(0.5)); }
double gelu_tanh(double x) {
  return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + double(0.044715f) * x * x * x));
}
double rsqrt(double x) { return 1 / std::sqrt(x); }
double reciprocal(double x) { return 1 / x; }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
double relu(double x) { return x < 0 ? 0 : x; }
double negate(double x) { return -x; }
double hard_swish(double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }

struct Function {
  const char* name;
  UnaryFn UnaryKernels::* fn;
  double (*reference)(double);
  double limit_ulp;        // with FMA
  double limit_ulp_sse42;  // without
  float smallest = 0;  // results below it are held to the absolute error that the limit is there
};

constexpr double kExact = 0.5;
const Function kFunctions[] = {
    {"exp", &UnaryKernels::exp, std::exp, 1, 1},
    {"expm1", &UnaryKernels::expm1, std::expm1, 1.5, 1.5},
    {"log", &UnaryKernels::log, std::log, 0.8, 0.9},
    {"log1p", &UnaryKernels::log1p, std::log1p, 1.5, 1.5},
    {"tanh", &UnaryKernels::tanh, std::tanh, 1.4, 1.4},
    {"erf", &UnaryKernels::erf, std::erf, 1.1, 1.3},
    {"sigmoid", &UnaryKernels::sigmoid, sigmoid, 1.7, 1.8},
    {"sin", &UnaryKernels::sin, std::sin, 1.6, 1.6},
    {"cos", &UnaryKernels::cos, std::cos, 1.6, 1.6},
    {"silu", &UnaryKernels::silu, silu, 2.7, 2.7, 1e-36f},
    {"softplus", &UnaryKernels::softplus, softplus, 2, 2},
    {"gelu_erf", &UnaryKernels::gelu_erf, gelu_erf, 7.1, 9, 1e-3f},
    {"gelu_tanh", &UnaryKernels::gelu_tanh, gelu_tanh, 16, 17.3, 1e-3f},
    {"sqrt", &UnaryKernels::sqrt, std::sqrt, kExact, kExact},
    {"rsqrt", &UnaryKernels::rsqrt, rsqrt, 1.5, 1.5},
    {"reciprocal", &UnaryKernels::reciprocal, reciprocal, kExact, kExact},
    {"abs", &UnaryKernels::abs, std::fabs, 0, 0},
    {"neg", &UnaryKernels::neg, negate, 0, 0},
    {"sign", &UnaryKernels::sign, sign, 0, 0},
    {"relu", &UnaryKernels::relu, relu, 0, 0},
    {"floor", &UnaryKernels::floor, std::floor, 0, 0},
    {"ceil", &UnaryKernels::ceil, std::ceil, 0, 0},
    {"trunc", &UnaryKernels::trunc, std::trunc, 0, 0},
    {"round_even", &UnaryKernels::round_even, std::nearbyint, 0, 0},
    {"hard_swish", &UnaryKernels::hard_swish, hard_swish, 1.3, 1.3, 1.0f},
};

/// All floats `stride` bit patterns apart, through the function in blocks; the largest error and
/// where it is.
void expect_within_limit(Isa isa, const Function& f, uint64_t stride) {
  constexpr int kBlock = 1021;
  float x[kBlock], y[kBlock];
  double worst = 0;
  float worst_x = 0;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32);) {
    int n = 0;
    for (; n < kBlock && bits < (uint64_t{1} << 32); bits += stride) {
      const uint32_t pattern = uint32_t(bits);
      std::memcpy(&x[n], &pattern, 4);
      n += std::isnan(x[n]) ? 0 : 1;
    }
    (kernels(isa).unary.*f.fn)(x, y, n);
    for (int i = 0; i < n; ++i) {
      const double error = ulp_error(y[i], f.reference(double(x[i])), f.smallest);
      if (error > worst) {
        worst = error;
        worst_x = x[i];
      }
    }
  }
  std::printf("%-12s %-7s %.3f ulp at %.9g\n", f.name, isa_name(isa), worst, double(worst_x));
  EXPECT_LE(worst, isa == Isa::kSse42 ? f.limit_ulp_sse42 : f.limit_ulp)
      << f.name << " at " << worst_x;
}

using UnaryTest = KernelTest;

TEST_P(UnaryTest, StaysWithinItsErrorLimitOnASampleOfAllFloats) {
  for (const Function& f : kFunctions) expect_within_limit(GetParam(), f, 9973);
}

TEST_P(UnaryTest, DISABLED_StaysWithinItsErrorLimitOnEvery37thFloat) {
  for (const Function& f : kFunctions) expect_within_limit(GetParam(), f, 37);
}

TEST_P(UnaryTest, KeepsNanAndTheSignOfZeroAndReachesTheLimits) {
  const float edges[] = {0.0f,
                         -0.0f,
                         1.0f,
                         -1.0f,
                         kInf,
                         -kInf,
                         0x1p-149f,
                         -0x1p-149f,
                         0x1.fffffep127f,
                         -0x1.fffffep127f,
                         0x1p-126f,
                         0.5f,
                         -0.5f,
                         2.5f,
                         -2.5f};
  for (const Function& f : kFunctions) {
    const double limit = std::max(f.limit_ulp, f.limit_ulp_sse42);
    float y[std::size(edges)], nan = kNan;
    (k().unary.*f.fn)(edges, y, std::size(edges));
    for (size_t i = 0; i < std::size(edges); ++i) {
      const double want = f.reference(double(edges[i]));
      EXPECT_LE(ulp_error(y[i], want, f.smallest), limit)
          << f.name << " of " << edges[i] << " is " << y[i];
      const bool sign_matters = want == 0 && f.limit_ulp > 0;
      EXPECT_TRUE(!sign_matters || std::signbit(y[i]) == std::signbit(want))
          << f.name << " of " << edges[i];
    }
    (k().unary.*f.fn)(&nan, y, 1);
    EXPECT_TRUE(std::isnan(y[0])) << f.name;
  }
}

TEST_P(UnaryTest, ParametersAreHeeded) {
  const float x[] = {-3.0f, -0.5f, 0.0f, 0.25f, 2.0f, kNan};
  float y[6];
  k().unary.leaky_relu(x, y, 6, 0.1f);
  EXPECT_EQ(y[0], -3.0f * 0.1f);
  EXPECT_EQ(y[4], 2.0f);
  k().unary.elu(x, y, 6, 1.5f);
  EXPECT_LE(ulp_error(y[1], 1.5 * std::expm1(-0.5)), 2);
  k().unary.hard_sigmoid(x, y, 6, 0.2f, 0.5f);
  EXPECT_EQ(y[3], 0.25f * 0.2f + 0.5f);
  EXPECT_EQ(y[0], 0.0f);
  k().unary.clip(x, y, 6, -1.0f, 0.2f);
  EXPECT_EQ(y[0], -1.0f);
  EXPECT_EQ(y[4], 0.2f);
  EXPECT_TRUE(std::isnan(y[5]));
}

TEST_P(UnaryTest, EveryLengthWorksInPlaceAndStaysInside) {
  for (int64_t n = 0; n < 70; ++n) {
    const Guarded<float> x = random_floats(rng, n, -4, 4);
    for (const Function& f : kFunctions) {
      Guarded<float> y(n), in_place = x;
      (k().unary.*f.fn)(x.data(), y.data(), n);
      (k().unary.*f.fn)(in_place.data(), in_place.data(), n);
      ASSERT_TRUE(y.intact() && in_place.intact()) << f.name << ' ' << n;
      for (int64_t i = 0; i < n; ++i) {
        float alone;
        (k().unary.*f.fn)(x.data() + i, &alone, 1);
        ASSERT_TRUE(same_bits(alone, y[i]) && same_bits(y[i], in_place[i])) << f.name << ' ' << n;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, UnaryTest, testing::ValuesIn(kAllIsas), isa_test_name);

}  // namespace
}  // namespace tw::cpu
