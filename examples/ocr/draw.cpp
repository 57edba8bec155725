#include "draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace ocr {
namespace {

using Colour = std::array<uint8_t, 3>;
constexpr Colour kOutline = {214, 40, 40};
constexpr Colour kLabel = {255, 255, 255};

// The digits, three dots wide and five high, rows from the top, the leftmost dot in the highest
// bit.
constexpr int kDigitWidth = 3, kDigitHeight = 5;
constexpr std::array<std::array<uint8_t, kDigitHeight>, 10> kDigits = {{
    {7, 5, 5, 5, 7},
    {2, 6, 2, 2, 7},
    {7, 1, 7, 4, 7},
    {7, 1, 7, 1, 7},
    {5, 5, 7, 1, 1},
    {7, 4, 7, 1, 7},
    {7, 4, 7, 5, 7},
    {7, 1, 1, 1, 1},
    {7, 5, 7, 5, 7},
    {7, 5, 7, 1, 7},
}};

/// Fills what of a rectangle lies inside the image.
void fill(Image& image, int left, int top, int width, int height, Colour colour) {
  const int right = std::min(left + width, image.width);
  const int bottom = std::min(top + height, image.height);
  for (int y = std::max(top, 0); y < bottom; ++y)
    for (int x = std::max(left, 0); x < right; ++x)
      std::copy(colour.begin(), colour.end(), image.pixel(x, y));
}

void draw_line(Image& image, Point from, Point to, int thickness) {
  const int steps = static_cast<int>(std::ceil(distance(from, to))) + 1;
  for (int i = 0; i <= steps; ++i) {
    const double share = static_cast<double>(i) / steps;
    const auto x = static_cast<int>(std::round(from.x + (to.x - from.x) * share));
    const auto y = static_cast<int>(std::round(from.y + (to.y - from.y) * share));
    fill(image, x - thickness / 2, y - thickness / 2, thickness, thickness, kOutline);
  }
}

/// A number in a filled box whose right edge stands at `right`.
void draw_number(Image& image, size_t number, int right, int top, int dot) {
  const std::string digits = std::to_string(number);
  const int advance = (kDigitWidth + 1) * dot;
  const int width = static_cast<int>(digits.size()) * advance + dot;
  const int left = std::max(right - width, 0);
  fill(image, left, top, width, (kDigitHeight + 2) * dot, kOutline);
  for (size_t i = 0; i < digits.size(); ++i) {
    const auto& rows = kDigits[size_t(digits[i] - '0')];
    for (int y = 0; y < kDigitHeight; ++y)
      for (int x = 0; x < kDigitWidth; ++x)
        if ((rows[size_t(y)] >> (kDigitWidth - 1 - x) & 1) != 0)
          fill(image, left + dot + static_cast<int>(i) * advance + x * dot, top + dot + y * dot,
               dot, dot, kLabel);
  }
}

}  // namespace

Image annotate(const Image& page, const std::vector<Quad>& quads) {
  constexpr int kWantedWidth = 1000, kThickness = 2, kDot = 2;
  const int scale = std::max((kWantedWidth + page.width - 1) / page.width, 1);
  Image image = resize(page, page.width * scale, page.height * scale);
  for (size_t i = 0; i < quads.size(); ++i) {
    Quad quad = quads[i];
    for (Point& corner : quad) corner = {corner.x * scale, corner.y * scale};
    for (size_t k = 0; k < 4; ++k) draw_line(image, quad[k], quad[(k + 1) % 4], kThickness);
    draw_number(image, i + 1, static_cast<int>(std::min(quad[0].x, quad[3].x)),
                static_cast<int>(quad[0].y), kDot);
  }
  return image;
}

}  // namespace ocr
