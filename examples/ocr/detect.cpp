#include "detect.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace ocr {
namespace {

using tilewright::Code;
using tilewright::Error;
using tilewright::Result;
using tilewright::Tensor;

// Values of RapidOCR's config.yaml.
constexpr int kMostLongSide = 2000;
constexpr int kLeastShortSide = 30;
constexpr int kLeastHeight = 30;
constexpr int kMostAspect = 8;
constexpr int kDetectorShortSide = 736;
constexpr int kDetectorMultiple = 32;

int to_multiple(double side) {
  const double whole = std::trunc(side);
  return static_cast<int>(std::nearbyint(whole / kDetectorMultiple)) * kDetectorMultiple;
}

/// Scaled by about `ratio`, to sides that the detector takes.
Image scale(const Image& image, double ratio) {
  const int width = std::max(to_multiple(image.width * ratio), kDetectorMultiple);
  const int height = std::max(to_multiple(image.height * ratio), kDetectorMultiple);
  return resize(image, width, height);
}

Image add_bars(const Image& image, int rows) {
  Image result(image.width, image.height + 2 * rows);
  std::copy(image.bytes.begin(), image.bytes.end(), result.pixel(0, rows));
  return result;
}

}  // namespace

Quad FittedPage::on_page(const Quad& quad, Size page) const {
  Quad result;
  for (size_t i = 0; i < 4; ++i)
    result[i] = {std::clamp(quad[i].x * x_scale, 0.0, static_cast<double>(page.width)),
                 std::clamp((quad[i].y - top) * y_scale, 0.0, static_cast<double>(page.height))};
  return result;
}

FittedPage fit_page(const Image& page) {
  FittedPage fitted{page};
  const int longer = std::max(page.width, page.height);
  if (longer > kMostLongSide)
    fitted.image = scale(fitted.image, static_cast<double>(kMostLongSide) / longer);
  const int shorter = std::min(fitted.image.width, fitted.image.height);
  if (shorter < kLeastShortSide)
    fitted.image = scale(fitted.image, static_cast<double>(kLeastShortSide) / shorter);
  fitted.x_scale = static_cast<double>(page.width) / fitted.image.width;
  fitted.y_scale = static_cast<double>(page.height) / fitted.image.height;

  const int width = fitted.image.width, height = fitted.image.height;
  if (height <= kLeastHeight || fitted.image.aspect() > kMostAspect) {
    const int wanted = std::max(width / kMostAspect, kLeastHeight) * 2;
    fitted.top = std::abs(wanted - height) / 2;
    fitted.image = add_bars(fitted.image, fitted.top);
  }
  return fitted;
}

Result<std::vector<Quad>> detect_lines(Model& detector, const FittedPage& page) {
  const Image& image = page.image;
  const int shorter = std::min(image.width, image.height);
  const double ratio = std::max(static_cast<double>(kDetectorShortSide) / shorter, 1.0);
  const Image picture = scale(image, ratio);
  Result<Tensor> input = make_batch(1, picture.height, picture.width);
  if (!input) return input.error();
  put_picture(picture, 0, *input);
  const Result<Tensor> output = detector.run(*input);
  if (!output) return output.error();
  if (output->dims() != std::vector<int64_t>{1, 1, picture.height, picture.width})
    return Error{Code::kInvalidModel, "the detector gave " + output->type_text() + " for " +
                                          input->type_text() + ", expected a value a pixel"};

  const Size map_size = {picture.width, picture.height}, page_size = {image.width, image.height};
  std::vector<Quad> boxes = find_boxes(output->as<float>(), map_size, page_size);
  sort_for_reading(boxes);
  return boxes;
}

}  // namespace ocr
