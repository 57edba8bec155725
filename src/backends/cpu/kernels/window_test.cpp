// window_test.cpp: depthwise convolution and pooling, with the chain of each output written out.
#include "backends/cpu/kernels/kernel_test_util.h"

namespace tw::cpu {
namespace {

/// Rows of an NHWC tensor picked at random for each tap, as a window over padded edges would.
struct Window {
  Guarded<float> input, output;
  std::vector<const float*> pointers;
  WindowArgs args;

  Window(std::mt19937& rng, int64_t rows, int64_t n_taps, int64_t channels)
      : input(random_floats(rng, 20 * channels)), output(rows * (channels + 3), 55.0f) {
    const int64_t stride = rows + 1;
    pointers.assign(size_t(n_taps * stride), nullptr);
    for (const float*& p : pointers) p = input.data() + random_int(rng, 0, 19) * channels;
    args = {.rows = rows,
            .n_taps = n_taps,
            .channels = channels,
            .x = pointers.data(),
            .x_stride = stride,
            .y = output.data(),
            .ldy = channels + 3};
  }
  float at(int64_t tap, int64_t row, int64_t channel) const {
    return pointers[size_t(tap * args.x_stride + row)][channel];
  }
  /// want(row, channel) is the exact result, bound the largest error.
  template <class Want>
  void expect(Want want, double bound) const {
    ASSERT_TRUE(output.intact());
    for (int64_t r = 0; r < args.rows; ++r) {
      for (int64_t c = 0; c < args.channels; ++c) {
        ASSERT_NEAR(output[r * args.ldy + c], want(r, c), bound)
            << args.rows << ' ' << args.channels;
      }
      for (int64_t c = args.channels; c < args.ldy; ++c) ASSERT_EQ(output[r * args.ldy + c], 55.0f);
    }
  }
};

constexpr int64_t kChannels[] = {0, 1, 3, 16, 31, 64, 100, 200};

using WindowTest = KernelTest;

TEST_P(WindowTest, DepthwiseMatchesDouble) {
  for (const int64_t channels : kChannels) {
    for (const int64_t rows : {0, 1, 3, 4, 9}) {
      Window w(rng, rows, 9, channels);
      const Guarded<float> weights = random_floats(rng, 9 * channels),
                           bias = random_floats(rng, channels);
      k().depthwise(w.args, weights.data(), bias.data());
      const auto want = [&](int64_t r, int64_t c) {
        double sum = bias[c];
        for (int64_t tap = 0; tap < 9; ++tap)
          sum += double(w.at(tap, r, c)) * weights[tap * channels + c];
        return sum;
      };
      w.expect(want, 0x1p-24 * 11 * 10);
    }
  }
}

TEST_P(WindowTest, DepthwiseBitsDoNotDependOnTheRowsBesideThem) {
  Window w(rng, 11, 9, 75);
  const Guarded<float> weights = random_floats(rng, 9 * 75);
  k().depthwise(w.args, weights.data(), nullptr);
  const Guarded<float> together = w.output;
  for (int64_t r = 0; r < 11; ++r) {
    WindowArgs one = w.args;
    one.rows = 1;
    one.x += r;
    one.y += r * w.args.ldy;
    k().depthwise(one, weights.data(), nullptr);
  }
  for (int64_t i = 0; i < together.size(); ++i) ASSERT_TRUE(same_bits(together[i], w.output[i]));
}

TEST_P(WindowTest, MaxPoolIsExactAndKeepsNan) {
  for (const int64_t channels : kChannels) {
    Window w(rng, 5, 6, channels);
    if (channels > 0) w.input[0] = kNan;
    k().max_pool(w.args);
    ASSERT_TRUE(w.output.intact());
    for (int64_t i = 0; i < 5 * channels; ++i) {
      const int64_t r = i / channels, c = i % channels;
      float want = -kInf;
      for (int64_t tap = 0; tap < 6; ++tap) {
        const float x = w.at(tap, r, c);
        want = std::isnan(x) || x > want ? x : want;
        if (std::isnan(want)) break;
      }
      ASSERT_TRUE(same_bits(w.output[r * w.args.ldy + c], want)) << channels;
    }
  }
}

TEST_P(WindowTest, AveragePoolDividesByTheRowsOwnCount) {
  const float divisors[] = {9, 6, 4, 6, 1};
  for (const int64_t channels : kChannels) {
    Window w(rng, 5, 9, channels);
    k().avg_pool(w.args, divisors);
    const auto want = [&](int64_t r, int64_t c) {
      double sum = 0;
      for (int64_t tap = 0; tap < 9; ++tap) sum += double(w.at(tap, r, c));
      return sum / double(divisors[r]);
    };
    w.expect(want, 0x1p-24 * 10 * 9);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, WindowTest, testing::ValuesIn(kAllIsas), isa_test_name);

}  // namespace
}  // namespace tw::cpu
