#include "reading.h"

#include <utility>

#include "detect.h"
#include "recognise.h"

namespace ocr {

using tilewright::Result;

Result<Reader> Reader::load(const std::string& plans, const std::string& characters,
                            const tilewright::EngineOptions& options) {
  Result<Model> detector = Model::load("detector", plans + "/det.plan", options);
  if (!detector) return detector.error();
  Result<Model> classifier = Model::load("classifier", plans + "/cls.plan", options);
  if (!classifier) return classifier.error();
  Result<Model> recogniser = Model::load("recogniser", plans + "/rec.plan", options);
  if (!recogniser) return recogniser.error();
  Result<std::vector<std::string>> names = read_characters(characters);
  if (!names) return names.error();
  return Reader{std::move(*detector), std::move(*classifier), std::move(*recogniser),
                std::move(*names)};
}

Result<std::vector<Line>> Reader::read(const Image& page) {
  const FittedPage fitted = fit_page(page);
  const Result<std::vector<Quad>> quads = detect_lines(detector, fitted);
  if (!quads) return quads.error();
  std::vector<Image> pictures;
  for (const Quad& quad : *quads) pictures.push_back(crop(fitted.image, quad));
  if (const Result<void> turned = set_upright(classifier, pictures); !turned) return turned.error();
  const Result<std::vector<Text>> texts = recognise(recogniser, pictures, characters);
  if (!texts) return texts.error();

  constexpr double kLeastConfidence = 0.5;
  std::vector<Line> lines;
  for (size_t i = 0; i < texts->size(); ++i) {
    const Text& text = (*texts)[i];
    if (text.confidence < kLeastConfidence) continue;
    lines.push_back(
        {text.text, fitted.on_page((*quads)[i], {page.width, page.height}), text.confidence});
  }
  return lines;
}

}  // namespace ocr
