// boxes.h: from the detector's map of how likely each pixel is text to the boxes of the lines, and
// the order in which they are read ("differentiable binarisation": lines come out shrunk, and are
// grown).
#pragma once

#include <cstdint>
#include <vector>

#include "geometry.h"

namespace ocr {

/// The `Det` values of RapidOCR's config.yaml.
struct BoxOptions {
  float pixel_threshold = 0.3F;  ///< a pixel above it is text
  double box_threshold = 0.5;    ///< a box whose mean is below it is dropped
  double unclip_ratio = 1.6;     ///< how far boxes are grown: times area over perimeter
  double least_side = 3;         ///< in pixels of the map, before growing
};

struct Size {
  int width = 0, height = 0;
};

/// The quads of all lines, in whole pixels of the page. `map` is row-major and shows the same
/// picture as the page at another scale.
std::vector<Quad> find_boxes(const float* map, Size map_size, Size page_size,
                             const BoxOptions& options = {});

/// From top to bottom; boxes whose tops differ by less than 10 pixels from left to right.
void sort_for_reading(std::vector<Quad>& boxes);

}  // namespace ocr
