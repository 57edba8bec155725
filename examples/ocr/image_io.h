// image_io.h: PNG and JPEG files.
#pragma once

#include <string>

#include "image.h"
#include "tilewright/result.h"

namespace ocr {

/// Reads a PNG or JPEG file; transparent pixels stand on white. Fails with kNotFound, kCorrupt, or
/// kUnsupported for a picture of more than 2^28 pixels.
tilewright::Result<Image> read_image(const std::string& path);

/// Fails with kIo.
tilewright::Result<void> write_png(const Image& image, const std::string& path);

}  // namespace ocr
