// image.h: pictures in memory, and how parts of them are scaled, turned and cut out. The pixel
// arithmetic is OpenCV's, to the last bit of a weight: the models were trained on its pictures, and
// RapidOCR, with which readings are compared, uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometry.h"

namespace ocr {

/// Rows of red, green, blue bytes.
struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> bytes;

  Image() = default;
  /// Black.
  Image(int w, int h) : width(w), height(h), bytes(size_t(w) * size_t(h) * 3) {}

  uint8_t* pixel(int x, int y) {
    return bytes.data() + (size_t(y) * size_t(width) + size_t(x)) * 3;
  }
  const uint8_t* pixel(int x, int y) const {
    return bytes.data() + (size_t(y) * size_t(width) + size_t(x)) * 3;
  }
  double aspect() const { return static_cast<double>(width) / height; }
};

/// Scaled with bilinear interpolation.
Image resize(const Image& image, int width, int height);

/// A quarter turn against the clock.
Image turn_left(const Image& image);
Image turn_upside_down(const Image& image);

/// What the quad shows, made rectangular with bicubic interpolation. A crop much taller than wide
/// is a line written from top to bottom: it is turned to the left.
Image crop(const Image& image, const Quad& quad);

}  // namespace ocr
