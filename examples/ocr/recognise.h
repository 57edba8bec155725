// recognise.h: what a line says.
#pragma once

#include <string>
#include <vector>

#include "model.h"

namespace ocr {

struct Text {
  std::string text;       ///< UTF-8
  double confidence = 0;  ///< the mean over the characters, 0 to 1
};

/// The characters that the recogniser's classes stand for: one a line of the file, before them the
/// blank, after them the space.
tilewright::Result<std::vector<std::string>> read_characters(const std::string& path);

/// Turns the lines that stand on their heads.
tilewright::Result<void> set_upright(Model& classifier, std::vector<Image>& lines);

/// Reads pictures of lines; the texts are in their order.
tilewright::Result<std::vector<Text>> recognise(Model& recogniser, const std::vector<Image>& lines,
                                                const std::vector<std::string>& characters);

}  // namespace ocr
