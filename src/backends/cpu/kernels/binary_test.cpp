// binary_test.cpp: operations of two arguments in their three forms; pow against the C library in
// double.
#include "backends/cpu/kernels/kernel_test_util.h"

namespace tw::cpu {
namespace {

float max_nan(float a, float b) { return std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b); }
float min_nan(float a, float b) { return std::isnan(a) || std::isnan(b) ? kNan : std::min(a, b); }

struct Operation {
  const char* name;
  BinaryForms BinaryKernels::* forms;
  float (*reference)(float, float);
};

const Operation kExactOperations[] = {
    {"add", &BinaryKernels::add, [](float a, float b) { return a + b; }},
    {"sub", &BinaryKernels::sub, [](float a, float b) { return a - b; }},
    {"mul", &BinaryKernels::mul, [](float a, float b) { return a * b; }},
    {"div", &BinaryKernels::div, [](float a, float b) { return a / b; }},
    {"max", &BinaryKernels::max, max_nan},
    {"min", &BinaryKernels::min, min_nan},
};

constexpr float kEdges[] = {0.0f,  -0.0f, 1.0f,   -1.0f,     0.5f,       -0.5f,       2.0f,
                            -2.0f, 3.0f,  -3.0f,  2.5f,      -2.5f,      kInf,        -kInf,
                            kNan,  1e30f, -1e30f, 0x1p-140f, -0x1p-140f, 16777217.0f, 1e-30f};

using BinaryTest = KernelTest;

TEST_P(BinaryTest, FormsAgreeWithTheLanguageAtEveryLength) {
  for (const Operation& op : kExactOperations) {
    const BinaryForms& forms = k().binary.*op.forms;
    for (int64_t n = 0; n < 70; ++n) {
      Guarded<float> a = random_floats(rng, n, -3, 3), b = random_floats(rng, n, -3, 3);
      if (n > 2) a[n - 1] = b[n - 2] = kNan;
      Guarded<float> vv(n), vs(n), sv(n);
      forms.vv(a.data(), b.data(), vv.data(), n);
      forms.vs(a.data(), 1.5f, vs.data(), n);
      forms.sv(1.5f, b.data(), sv.data(), n);
      ASSERT_TRUE(vv.intact() && vs.intact() && sv.intact()) << op.name;
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_TRUE(same_bits(vv[i], op.reference(a[i], b[i]))) << op.name;
        ASSERT_TRUE(same_bits(vs[i], op.reference(a[i], 1.5f))) << op.name;
        ASSERT_TRUE(same_bits(sv[i], op.reference(1.5f, b[i]))) << op.name;
      }
    }
  }
}

TEST_P(BinaryTest, PowFollowsTheSpecialCasesOfC) {
  for (const float x : kEdges) {
    for (const float y : kEdges) {
      float got;
      k().binary.pow.vv(&x, &y, &got, 1);
      const double want = std::pow(double(x), double(y));
      EXPECT_LE(ulp_error(got, want), 1) << x << " ^ " << y << " is " << got << ", not " << want;
      EXPECT_TRUE(std::isnan(want) || std::signbit(got) == std::signbit(want)) << x << " ^ " << y;
    }
  }
}

TEST_P(BinaryTest, PowStaysWithinAnUlp) {
  constexpr int64_t kCount = 400000;
  std::uniform_real_distribution<float> log_base(-126, 127.9f), result(-150, 129);
  Guarded<float> x(kCount), y(kCount), power(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    // Half of the bases lie near 1, where the exponents are large.
    const float e = i % 2 != 0 ? log_base(rng) : log_base(rng) * 0x1p-7f;
    x[i] = std::exp2(e);
    y[i] = result(rng) / (e == 0 ? 1 : e);
  }
  k().binary.pow.vv(x.data(), y.data(), power.data(), kCount);
  double worst = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    worst = std::max(worst, ulp_error(power[i], std::pow(double(x[i]), double(y[i]))));
  }
  std::printf("pow %s %.3f ulp\n", isa_name(GetParam()), worst);
  EXPECT_LE(worst, 1);
}

INSTANTIATE_TEST_SUITE_P(Isas, BinaryTest, testing::ValuesIn(kAllIsas), isa_test_name);

}  // namespace
}  // namespace tw::cpu
