#include "image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace ocr {
namespace {

// Bilinear weights are whole 2048ths.
constexpr int kWeightBits = 11;
constexpr int kWeightOne = 1 << kWeightBits;

/// For each output position along an axis: the two input positions it lies between, and the second
/// one's weight.
struct Tap {
  int first, second, weight;
};

std::vector<Tap> taps(int from, int to) {
  std::vector<Tap> result;
  const double scale = static_cast<double>(from) / to;
  for (int i = 0; i < to; ++i) {
    const auto at = static_cast<float>((i + 0.5) * scale - 0.5);
    const auto before = static_cast<int>(std::floor(at));
    const auto weight = static_cast<int>(std::nearbyint((at - std::floor(at)) * kWeightOne));
    result.push_back(
        {std::clamp(before, 0, from - 1), std::clamp(before + 1, 0, from - 1), weight});
  }
  return result;
}

/// One row of `image`, scaled along x; values are 2048 times as large.
std::vector<int> scale_row(const Image& image, int y, const std::vector<Tap>& columns) {
  std::vector<int> row;
  row.reserve(columns.size() * 3);
  for (const Tap& tap : columns) {
    const uint8_t *a = image.pixel(tap.first, y), *b = image.pixel(tap.second, y);
    for (int c = 0; c < 3; ++c) row.push_back(a[c] * (kWeightOne - tap.weight) + b[c] * tap.weight);
  }
  return row;
}

using CubicWeights = std::array<float, 4>;

/// The weights of the four pixels round a position that lies `d` after the second of them.
CubicWeights cubic_weights(float d) {
  constexpr float kA = -0.75F;
  const auto near = [](float x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](float x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  return {far(1 + d), near(d), near(1 - d), far(2 - d)};
}

/// The pixel at a point; beyond the border the nearest pixel stands.
void sample_cubic(const Image& image, Point at, uint8_t* out) {
  // A point far outside, or nowhere, counts as one just outside.
  const double x = std::fmin(std::fmax(at.x, -2.0), image.width + 1.0);
  const double y = std::fmin(std::fmax(at.y, -2.0), image.height + 1.0);
  const auto left = static_cast<int>(std::floor(x)) - 1;
  const auto top = static_cast<int>(std::floor(y)) - 1;
  const CubicWeights across = cubic_weights(static_cast<float>(x - std::floor(x)));
  const CubicWeights down = cubic_weights(static_cast<float>(y - std::floor(y)));
  std::array<float, 3> sum = {};
  for (int j = 0; j < 4; ++j) {
    const int row = std::clamp(top + j, 0, image.height - 1);
    for (int i = 0; i < 4; ++i) {
      const uint8_t* pixel = image.pixel(std::clamp(left + i, 0, image.width - 1), row);
      const float weight = across[size_t(i)] * down[size_t(j)];
      for (size_t c = 0; c < 3; ++c) sum[c] += weight * pixel[c];
    }
  }
  for (size_t c = 0; c < 3; ++c)
    out[c] = static_cast<uint8_t>(std::nearbyint(std::clamp(sum[c], 0.0F, 255.0F)));
}

}  // namespace

Image resize(const Image& image, int width, int height) {
  Image result(width, height);
  const std::vector<Tap> columns = taps(image.width, width), rows = taps(image.height, height);
  std::vector<int> above, below;
  int above_y = -1, below_y = -1;
  for (int y = 0; y < height; ++y) {
    const Tap& tap = rows[size_t(y)];
    if (tap.first == below_y) {
      std::swap(above, below);
      std::swap(above_y, below_y);
    }
    if (tap.first != above_y) above = scale_row(image, tap.first, columns);
    if (tap.second != below_y) below = scale_row(image, tap.second, columns);
    above_y = tap.first;
    below_y = tap.second;
    uint8_t* out = result.pixel(0, y);
    for (size_t i = 0; i < above.size(); ++i) {
      const int a = ((kWeightOne - tap.weight) * (above[i] >> 4)) >> 16;
      const int b = (tap.weight * (below[i] >> 4)) >> 16;
      out[i] = static_cast<uint8_t>((a + b + 2) >> 2);
    }
  }
  return result;
}

Image turn_left(const Image& image) {
  Image result(image.height, image.width);
  for (int y = 0; y < result.height; ++y)
    for (int x = 0; x < result.width; ++x)
      std::copy_n(image.pixel(image.width - 1 - y, x), 3, result.pixel(x, y));
  return result;
}

Image turn_upside_down(const Image& image) {
  Image result(image.width, image.height);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      std::copy_n(image.pixel(image.width - 1 - x, image.height - 1 - y), 3, result.pixel(x, y));
  return result;
}

Image crop(const Image& image, const Quad& quad) {
  const double width = std::max(distance(quad[0], quad[1]), distance(quad[2], quad[3]));
  const double height = std::max(distance(quad[0], quad[3]), distance(quad[1], quad[2]));
  Image result(std::max(static_cast<int>(width), 1), std::max(static_cast<int>(height), 1));
  const Projection projection(quad);
  for (int y = 0; y < result.height; ++y)
    for (int x = 0; x < result.width; ++x) {
      const double u = static_cast<double>(x) / result.width;
      const double v = static_cast<double>(y) / result.height;
      sample_cubic(image, projection(u, v), result.pixel(x, y));
    }
  constexpr double kTall = 1.5;
  return result.height >= kTall * result.width ? turn_left(result) : result;
}

}  // namespace ocr
