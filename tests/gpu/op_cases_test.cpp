// Every op case through the whole compiler on the GPU, in each precision, against the op's
// reference; twice, for equal bits.
#include <cuda_runtime_api.h>

#include <cmath>

#include "backends/cuda/build/target.h"
#include "compiler/compile.h"
#include "runtime/engine.h"
#include "tests/conformance/op_cases.h"

namespace tw::conformance {
namespace {

struct Precision {
  const char* name;
  std::optional<DType> compute_type;
  bool allow_tf32 = false;
};
constexpr Precision kPrecisions[] = {{"fp32", std::nullopt},
                                     {"tf32", std::nullopt, true},
                                     {"fp16", DType::kF16},
                                     {"bf16", DType::kBF16}};
constexpr double kTf32Epsilon = 0x1p-10;

class EachCaseOnTheGpu : public testing::TestWithParam<CaseId> {
 protected:
  void SetUp() override {
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) GTEST_SKIP() << "no GPU";
  }
};

Result<std::vector<std::vector<Tensor>>> run_twice(const ir::OpCase& c,
                                                   const Precision& precision) {
  compiler::CompileOptions options;
  options.compute_type = precision.compute_type;
  plan::Plan plan = TRY(
      compiler::compile(c.graph, *cuda::make_target({precision.allow_tf32, {"", false}}), options));
  runtime::EngineOptions engine;
  engine.threads = 1;
  runtime::Context context(TRY(runtime::Engine::make(std::move(plan), engine)));
  std::vector<std::vector<Tensor>> runs;
  // The second is launched, the third replays what was captured.
  for (int i = 0; i < 3; ++i) runs.push_back(TRY(context.run(c.inputs)));
  return runs;
}

void expect_equal_bits(const std::vector<std::vector<Tensor>>& runs) {
  for (size_t run = 1; run < runs.size(); ++run)
    for (size_t i = 0; i < runs[0].size(); ++i)
      EXPECT_EQ(std::memcmp(runs[0][i].data(), runs[run][i].data(),
                            static_cast<size_t>(runs[0][i].bytes())),
                0)
          << "run " << run << ", output " << i;
}

/// Within roundings of a type that is lower than the output's, counted on the largest value.
void expect_close_in(double unit, const Tensor& found, const Tensor& wanted, double n_roundings) {
  if (!is_float(wanted.dtype())) return expect_close(found, wanted, n_roundings);
  ASSERT_EQ(found.type_text(), wanted.type_text());
  double largest = 1;
  for (int64_t i = 0; i < wanted.count(); ++i)
    if (std::isfinite(wanted.float_at(i)))
      largest = std::max(largest, std::fabs(wanted.float_at(i)));
  for (int64_t i = 0; i < wanted.count(); ++i) {
    const double a = wanted.float_at(i), b = found.float_at(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    ASSERT_LE(std::fabs(a - b), unit * n_roundings * largest)
        << "element " << i << " is " << b << ", expected " << a;
  }
}

TEST_P(EachCaseOnTheGpu, GivesWhatItsReferenceGives) {
  const ir::OpCase c = make_or_fail(GetParam());
  const std::vector<Tensor> wanted = evaluate_or_fail(c);
  for (const Precision& precision : kPrecisions) {
    SCOPED_TRACE(precision.name);
    const auto runs = run_twice(c, precision);
    ASSERT_TRUE(runs.ok()) << runs.error().message;
    expect_equal_bits(runs.value());
    const std::vector<Tensor>& found = runs.value()[0];
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (precision.allow_tf32)
        expect_close_in(kTf32Epsilon, found[i], wanted[i], roundings_of_sums(c));
      else if (precision.compute_type)
        expect_close_in(epsilon(*precision.compute_type), found[i], wanted[i],
                        roundings_of_sums(c));
      else
        expect_close(found[i], wanted[i], roundings_of_sums(c));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, EachCaseOnTheGpu, testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace tw::conformance
