// detect.h: where the lines of text stand on a page.
#pragma once

#include <vector>

#include "boxes.h"
#include "model.h"

namespace ocr {

/// A page as the detector sees it, and the way back.
struct FittedPage {
  Image image;
  double x_scale = 1, y_scale = 1;  ///< pixels of the page for one of `image`
  int top = 0;                      ///< black rows added above, and as many below

  /// A quad on `image`, on the page.
  Quad on_page(const Quad& quad, Size page) const;
};

/// Brings the longer side down to 2000 pixels and the shorter one up to 30, and puts black bars
/// above and below a page that is hardly more than a line.
FittedPage fit_page(const Image& page);

/// The quads of the lines on a fitted page, in reading order.
tilewright::Result<std::vector<Quad>> detect_lines(Model& detector, const FittedPage& page);

}  // namespace ocr
