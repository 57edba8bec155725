// draw.h: the page with what was found on it.
#pragma once

#include <vector>

#include "image.h"

namespace ocr {

/// The page with each quad outlined and numbered from 1; a small page is drawn larger.
Image annotate(const Image& page, const std::vector<Quad>& quads);

}  // namespace ocr
