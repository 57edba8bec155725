// reading.h: a whole page: detector, classifier and recogniser one after the other.
#pragma once

#include <string>
#include <vector>

#include "geometry.h"
#include "image.h"
#include "model.h"

namespace ocr {

struct Line {
  std::string text;  ///< UTF-8
  Quad quad;         ///< in pixels of the page
  double confidence = 0;
};

/// The three plans and what turns their numbers into text. One page at a time.
struct Reader {
  Model detector, classifier, recogniser;
  std::vector<std::string> characters;

  /// Loads det.plan, cls.plan and rec.plan of a folder, and a file of characters.
  static tilewright::Result<Reader> load(const std::string& plans, const std::string& characters,
                                         const tilewright::EngineOptions& options);

  /// The lines of a page in reading order, without those that are hardly legible.
  tilewright::Result<std::vector<Line>> read(const Image& page);
};

}  // namespace ocr
