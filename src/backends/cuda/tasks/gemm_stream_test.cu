// The streaming GEMM against the naive one: values at odd and production shapes, and the promise
// that a row's bits depend on its own values and the weight alone.
#include "backends/cuda/tasks/gemm_stream.h"
#include "backends/cuda/testing/device_data.cuh"
#include "backends/cuda/testing/gemm_reference.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

namespace tw::cuda {
namespace {

using testing::check;
using testing::DeviceArray;
using testing::LaunchGraph;
using Bf16 = __nv_bfloat16;

constexpr int kMaxRows = 64;
constexpr int kSmCount = 132;

class GemmStream : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
      GTEST_SKIP() << "no CUDA device";
    check(prepare_gemm_stream(), "prepare_gemm_stream");
  }
};

/// One weight with 64 rows of x, padded pitches, and scratch; `run` gives y of the first m rows.
struct Problem {
  int n, k;
  int64_t x_pitch, w_pitch, y_pitch;
  DeviceArray<Bf16> x, w, bias, y;
  DeviceArray<float> partials;
  bool with_bias = true;

  Problem(int n_, int k_)
      : n(n_),
        k(k_),
        x_pitch(k + 8),
        w_pitch(k + 16),
        y_pitch((n + 3) / 2 * 2),
        x(testing::uniform_bf16(x_pitch * kMaxRows, 1, 1)),
        w(testing::uniform_bf16(w_pitch * n, 2, 1 / std::sqrt(static_cast<float>(k)))),
        bias(testing::uniform_bf16(n, 3, 1)),
        y(y_pitch * kMaxRows),
        partials(plan_gemm_stream(n, k, kSmCount).partial_bytes(kMaxRows) / sizeof(float)) {
    partials.fill_bytes(0xff);
  }

  GemmStreamArgs args(int m) const {
    return {.x = x.data(),
            .w = w.data(),
            .bias = with_bias ? bias.data() : nullptr,
            .y = y.data(),
            .x_pitch = x_pitch,
            .w_pitch = w_pitch,
            .y_pitch = y_pitch,
            .m = m,
            .n = n,
            .k = k,
            .partials = partials.data()};
  }

  /// y of rows first_row..first_row + m, as bits; columns past n are left as the poison.
  std::vector<Bf16> run(int m, int first_row = 0, int sm_count = kSmCount) const {
    y.fill_bytes(0xff);
    GemmStreamArgs call = args(m);
    call.x += first_row * x_pitch;
    check(launch_gemm_stream(call, plan_gemm_stream(n, k, sm_count), false, nullptr),
          "launch_gemm_stream");
    check(cudaDeviceSynchronize(), "gemm_stream");
    return y.to_host();
  }
};

/// Whether two rows of n elements are equal bit for bit.
bool same_row(const Problem& p, const std::vector<Bf16>& a, int row_a, const std::vector<Bf16>& b,
              int row_b) {
  return std::memcmp(&a[row_a * p.y_pitch], &b[row_b * p.y_pitch], p.n * sizeof(Bf16)) == 0;
}

bool same_bits(const std::vector<Bf16>& a, const std::vector<Bf16>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Bf16)) == 0;
}

uint16_t bits_of(Bf16 value) {
  uint16_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// Elements of y that are further from the exact value than rounding explains, or written past n or
/// m.
int count_wrong(const Problem& p, int m, const std::vector<Bf16>& y) {
  DeviceArray<double> exact(size_t(m) * p.n), magnitude(size_t(m) * p.n);
  testing::gemm_reference_kernel<<<dim3((p.n + 127) / 128, m), 128>>>(
      {p.x.data(), p.w.data(), p.with_bias ? p.bias.data() : nullptr, exact.data(),
       magnitude.data(), p.x_pitch, p.w_pitch, m, p.n, p.k});
  check(cudaDeviceSynchronize(), "gemm_reference");
  const auto want = exact.to_host(), scale = magnitude.to_host();
  int wrong = 0;
  for (int64_t row = 0; row < kMaxRows; ++row)
    for (int64_t col = 0; col < p.y_pitch; ++col) {
      const Bf16 got = y[row * p.y_pitch + col];
      const int64_t at = row * p.n + col;
      const bool ok = row < m && col < p.n ? std::fabs(__bfloat162float(got) - want[at]) <=
                                                 testing::gemm_tolerance(want[at], scale[at], p.k)
                                           : bits_of(got) == 0xffff;
      wrong += ok ? 0 : 1;
    }
  return wrong;
}

/// x[row] . w[col] + bias[col] on the host, in double: what the naive kernel is itself held to.
double host_dot(const Problem& p, int row, int col) {
  std::vector<Bf16> x(p.k), w(p.k), bias(1);
  const auto fetch = [](std::vector<Bf16>& to, const Bf16* from) {
    check(cudaMemcpy(to.data(), from, to.size() * sizeof(Bf16), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
  };
  fetch(x, p.x.data() + row * p.x_pitch);
  fetch(w, p.w.data() + col * p.w_pitch);
  fetch(bias, p.bias.data() + col);
  double sum = __bfloat162float(bias[0]);
  for (int i = 0; i < p.k; ++i)
    sum +=
        static_cast<double>(__bfloat162float(x[i])) * static_cast<double>(__bfloat162float(w[i]));
  return sum;
}

struct Shape {
  int n, k;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.n << "x" << shape.k; }

class GemmStreamShapes : public GemmStream, public ::testing::WithParamInterface<Shape> {};

TEST_P(GemmStreamShapes, AgreesWithTheNaiveKernelAndRepeatsItsBits) {
  const Problem p(GetParam().n, GetParam().k);
  for (const int m : {1, 4, 8, 9, 16, 23, 32, 40, 64}) {
    const auto y = p.run(m);
    EXPECT_EQ(count_wrong(p, m, y), 0) << "m " << m;
    EXPECT_TRUE(same_bits(y, p.run(m))) << "m " << m;
  }
}

TEST_P(GemmStreamShapes, AgreesWithTheHostOnSamples) {
  const Problem p(GetParam().n, GetParam().k);
  const auto y = p.run(kMaxRows);
  for (int i = 0; i < 40; ++i) {
    const int row = i * 37 % kMaxRows, col = static_cast<int>(i * 7919LL % p.n);
    const double want = host_dot(p, row, col);
    const double got = __bfloat162float(y[row * p.y_pitch + col]);
    EXPECT_NEAR(got, want, testing::gemm_tolerance(want, std::sqrt(p.k), p.k))
        << row << ", " << col;
  }
}

TEST_P(GemmStreamShapes, ARowHasTheSameBitsAtEveryRowCountAndPlace) {
  const Problem p(GetParam().n, GetParam().k);
  const auto all = p.run(kMaxRows);
  for (const int m : {1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 63})
    for (const int first : {0, kMaxRows - m}) {
      const auto y = p.run(m, first);
      for (int row = 0; row < m; ++row)
        ASSERT_TRUE(same_row(p, y, row, all, first + row))
            << "m " << m << " from " << first << " row " << row;
    }
}

TEST_P(GemmStreamShapes, OtherNumbersOfMultiprocessorsGiveTheSameBits) {
  const Problem p(GetParam().n, GetParam().k);
  const auto all = p.run(kMaxRows);
  for (const int sm_count : {1, 7, 66, 114})
    EXPECT_TRUE(same_bits(p.run(kMaxRows, 0, sm_count), all)) << sm_count;
}

INSTANTIATE_TEST_SUITE_P(Odd, GemmStreamShapes,
                         ::testing::Values(Shape{1, 8}, Shape{2, 24}, Shape{33, 520},
                                           Shape{100, 1000}, Shape{257, 4104}, Shape{1000, 2056}));
INSTANTIATE_TEST_SUITE_P(Production, GemmStreamShapes,
                         ::testing::Values(Shape{6144, 4096}, Shape{4096, 4096}, Shape{28672, 4096},
                                           Shape{4096, 14336}, Shape{40000, 256}));

TEST_F(GemmStream, ARowOfNansStaysAlone) {
  const Problem p(300, 1032);
  const auto clean = p.run(kMaxRows);
  constexpr int kBad = 11;
  check(cudaMemset(p.x.data() + kBad * p.x_pitch, 0xff, p.k * sizeof(Bf16)), "cudaMemset");
  const auto y = p.run(kMaxRows);
  for (int row = 0; row < kMaxRows; ++row)
    EXPECT_EQ(same_row(p, y, row, clean, row), row != kBad) << row;
}

TEST_F(GemmStream, WithoutBiasAgreesWithTheNaiveKernel) {
  Problem p(100, 1000);
  p.with_bias = false;
  EXPECT_EQ(count_wrong(p, 5, p.run(5)), 0);
}

// Each product reads the one before it and all share their scratch, so a kernel that ran ahead of
// its dependency would change the last.
TEST_F(GemmStream, AnOverlappedChainGivesTheBitsOfASerialOne) {
  constexpr int kSize = 1024, kLinks = 12, kM = 33;
  const Problem p(kSize, kSize);
  std::vector<DeviceArray<Bf16>> rows;
  for (int i = 0; i <= kLinks; ++i)
    rows.push_back(testing::uniform_bf16(size_t{kSize} * kMaxRows, 10 + i, 1));
  const GemmStreamPlan plan = plan_gemm_stream(kSize, kSize, kSmCount);
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "create stream");
  const auto last = [&](bool overlap) {
    for (int i = 1; i <= kLinks; ++i) rows[i].fill_bytes(0xff);
    const LaunchGraph graph(stream, [&](cudaStream_t to) {
      for (int i = 0; i < kLinks; ++i) {
        GemmStreamArgs call = p.args(kM);
        call.x = rows[i].data();
        call.y = rows[i + 1].data();
        call.x_pitch = call.y_pitch = kSize;
        check(launch_gemm_stream(call, plan, overlap, to), "launch_gemm_stream");
      }
    });
    for (int i = 0; i < 5; ++i) graph.launch(stream);
    check(cudaStreamSynchronize(stream), "chain");
    return rows[kLinks].to_host();
  };
  EXPECT_TRUE(same_bits(last(true), last(false)));
  check(cudaStreamDestroy(stream), "destroy stream");
}

/// Launches one block of a product whose K is cut, so that the sums it waits for are never written,
/// and ends the process with what the mailbox then holds.
[[noreturn]] void launch_without_partners() {
  StuckReport* mailbox = nullptr;
  check(cudaHostAlloc(&mailbox, sizeof *mailbox, cudaHostAllocMapped), "cudaHostAlloc");
  *mailbox = {};
  const Problem p(64, 1024);
  GemmStreamArgs call = p.args(4);
  call.mailbox = mailbox;
  GemmStreamPlan plan = plan_gemm_stream(p.n, p.k, kSmCount);
  plan.blocks = 1;
  check(launch_gemm_stream(call, plan, false, nullptr), "launch_gemm_stream");
  const cudaError_t error = cudaDeviceSynchronize();
  std::fprintf(stderr, "%s; stuck at %u, block %u\n", cudaGetErrorName(error),
               static_cast<unsigned>(mailbox->at), mailbox->block);
  std::_Exit(error == cudaErrorLaunchFailure && mailbox->at == StuckAt::kPartialSums ? 0 : 1);
}

// In a process of its own, since a trap ends the context.
TEST_F(GemmStream, AWaitThatCannotEndTrapsAndLeavesAReport) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(launch_without_partners(), ::testing::ExitedWithCode(0), "stuck at 4, block 0");
}

TEST_F(GemmStream, RefusesWithASentence) {
  const Problem p(64, 1024);
  const GemmStreamPlan plan = plan_gemm_stream(p.n, p.k, kSmCount);
  const auto refusal = [&](auto change) -> std::string {
    GemmStreamArgs call = p.args(4);
    change(call);
    const char* why = gemm_stream_refusal(call, plan);
    return why == nullptr ? "" : why;
  };
  EXPECT_EQ(refusal([](GemmStreamArgs&) {}), "");
  EXPECT_NE(refusal([](GemmStreamArgs& a) { a.m = 65; }).find("1 to 64 rows"), std::string::npos);
  EXPECT_NE(refusal([](GemmStreamArgs& a) { a.m = 0; }).find("1 to 64 rows"), std::string::npos);
  EXPECT_NE(refusal([](GemmStreamArgs& a) { a.k = 1001; }).find("multiples of 8"),
            std::string::npos);
  EXPECT_NE(refusal([](GemmStreamArgs& a) { a.w_pitch = 1028; }).find("16 bytes"),
            std::string::npos);
  EXPECT_NE(refusal([](GemmStreamArgs& a) { a.x += 1; }).find("16-byte"), std::string::npos);
  EXPECT_NE(refusal([](GemmStreamArgs& a) { a.k = 512; }).find("another weight"),
            std::string::npos);
  EXPECT_NE(refusal([](GemmStreamArgs& a) { a.partials = nullptr; }).find("scratch"),
            std::string::npos);
  GemmStreamArgs bad = p.args(65);
  EXPECT_EQ(launch_gemm_stream(bad, plan, false, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace tw::cuda
