#include "recognise.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <span>

namespace ocr {
namespace {

using tilewright::Code;
using tilewright::Error;
using tilewright::Result;
using tilewright::Tensor;

// Values of RapidOCR's config.yaml.
constexpr int kLineHeight = 48;
constexpr int kClassifierWidth = 192;
constexpr float kTurnThreshold = 0.9F;
constexpr int kRecogniserWidth = 320;
constexpr size_t kBatch = 6;

/// Line numbers by how wide the lines are, so that a batch's lines are about equally wide.
std::vector<size_t> by_aspect(const std::vector<Image>& lines) {
  std::vector<size_t> order(lines.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lines[a].aspect() < lines[b].aspect(); });
  return order;
}

/// Calls `run(numbers of at most six lines)` for all lines; stops at the first error.
template <class Run>
Result<void> for_batches(const std::vector<Image>& lines, Run run) {
  const std::vector<size_t> order = by_aspect(lines);
  for (size_t begin = 0; begin < order.size(); begin += kBatch) {
    const size_t count = std::min(kBatch, order.size() - begin);
    if (const Result<void> done = run(std::span(order).subspan(begin, count)); !done) return done;
  }
  return {};
}

/// The named lines scaled to the models' height, each with its own width up to `width`.
Result<Tensor> line_batch(const std::vector<Image>& lines, std::span<const size_t> numbers,
                          int width) {
  Result<Tensor> batch = make_batch(numbers.size(), kLineHeight, width);
  if (!batch) return batch;
  for (size_t row = 0; row < numbers.size(); ++row) {
    const Image& line = lines[numbers[row]];
    const double own_width = std::ceil(kLineHeight * line.aspect());
    const auto scaled_width = static_cast<int>(std::min<double>(own_width, width));
    put_picture(resize(line, scaled_width, kLineHeight), row, *batch);
  }
  return batch;
}

/// Reads the classes of one line, [steps, classes]: of each step the likeliest, repetitions once,
/// no blanks.
Text decode(const float* steps, size_t n_steps, const std::vector<std::string>& characters) {
  constexpr size_t kBlank = 0;
  Text result;
  size_t n_characters = 0, previous = kBlank;
  for (size_t step = 0; step < n_steps; ++step) {
    const float* row = steps + step * characters.size();
    const auto best = static_cast<size_t>(std::max_element(row, row + characters.size()) - row);
    if (best != previous && best != kBlank) {
      result.text += characters[best];
      result.confidence += row[best];
      ++n_characters;
    }
    previous = best;
  }
  if (n_characters > 0) result.confidence /= static_cast<double>(n_characters);
  return result;
}

Error wrong_output(const Model& model, const Tensor& output, const std::string& expected) {
  return {Code::kInvalidModel,
          model.name() + " gave " + output.type_text() + ", expected " + expected};
}

}  // namespace

Result<std::vector<std::string>> read_characters(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{Code::kNotFound, "cannot open '" + path + "'"};
  std::vector<std::string> characters = {""};
  for (std::string line; std::getline(file, line);) characters.push_back(line);
  characters.emplace_back(" ");
  return characters;
}

Result<void> set_upright(Model& classifier, std::vector<Image>& lines) {
  return for_batches(lines, [&](std::span<const size_t> numbers) -> Result<void> {
    const Result<Tensor> input = line_batch(lines, numbers, kClassifierWidth);
    if (!input) return input.error();
    const Result<Tensor> output = classifier.run(*input);
    if (!output) return output.error();
    if (output->dims() != std::vector<int64_t>{static_cast<int64_t>(numbers.size()), 2})
      return wrong_output(classifier, *output, "upright and turned for each line");
    for (size_t row = 0; row < numbers.size(); ++row) {
      const float turned = output->as<float>()[2 * row + 1];
      if (turned > kTurnThreshold) lines[numbers[row]] = turn_upside_down(lines[numbers[row]]);
    }
    return {};
  });
}

Result<std::vector<Text>> recognise(Model& recogniser, const std::vector<Image>& lines,
                                    const std::vector<std::string>& characters) {
  std::vector<Text> texts(lines.size());
  const auto run = [&](std::span<const size_t> numbers) -> Result<void> {
    const double widest = lines[numbers.back()].aspect();
    const double aspect = std::max(static_cast<double>(kRecogniserWidth) / kLineHeight, widest);
    const Result<Tensor> input = line_batch(lines, numbers, static_cast<int>(kLineHeight * aspect));
    if (!input) return input.error();
    const Result<Tensor> output = recogniser.run(*input);
    if (!output) return output.error();
    const std::vector<int64_t>& dims = output->dims();  // [lines, steps, classes]
    if (dims.size() != 3 || dims[0] != static_cast<int64_t>(numbers.size()) ||
        dims[2] != static_cast<int64_t>(characters.size()))
      return wrong_output(recogniser, *output,
                          std::to_string(characters.size()) + " classes for each step of a line");
    const auto n_steps = size_t(dims[1]);
    for (size_t row = 0; row < numbers.size(); ++row)
      texts[numbers[row]] =
          decode(output->as<float>() + row * n_steps * characters.size(), n_steps, characters);
    return {};
  };
  if (const Result<void> done = for_batches(lines, run); !done) return done.error();
  return texts;
}

}  // namespace ocr
