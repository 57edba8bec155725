// image.h: PNG and JPEG files as model inputs.
#pragma once

#include <string>
#include <vector>

#include "base/tensor.h"
#include "plan/procedure.h"

namespace tw::cli {

/// What happens to a pixel's value v in [0, 255] on its way into a float input: (v / 255 - mean) /
/// std, a number a channel or one for all. Integer inputs take v.
struct ImageOptions {
  std::vector<double> mean, std;
  bool bgr = false;   // channels in the order blue, green, red
  bool nhwc = false;  // channels last
};

/// The image as a tensor for `port`, [1, C, H, W] or [C, H, W] (nhwc: channels last), 1 or 3
/// channels as the port wants. Sizes are the image's own: nothing is resized.
Result<Tensor> read_image(const std::string& path, const plan::Port& port,
                          const ImageOptions& options);

}  // namespace tw::cli
