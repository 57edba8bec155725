// tilewright_ocr: reads the text off a picture of a page with three plans of PP-OCR. An example of
// how a program runs plans with Tilewright's C++ API; model.cpp holds every call of it.
#include <charconv>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "draw.h"
#include "image_io.h"
#include "reading.h"
#include "report.h"

namespace {

using tilewright::Code;
using tilewright::Error;
using tilewright::Result;

constexpr std::string_view kUsage =
    R"(usage: tilewright_ocr PICTURE --plans FOLDER --characters FILE [options]
Reads the text off a PNG or JPEG file.

  --plans FOLDER       holds det.plan, cls.plan and rec.plan
  --characters FILE    the recogniser's characters, one a line
  --json FILE          writes lines, quads and confidences
  --annotated FILE     writes the picture with numbered boxes, as PNG
  --repeat N           reads the page N times, for the times of the runs
  --threads N          the calling thread included; 0, the default: one a core

example: tilewright_ocr page.png --plans plans --characters characters.txt --annotated boxes.png
)";

struct Options {
  std::string picture, plans, characters, json, annotated;
  int repeat = 1, threads = 0;
};

Error usage_error(const std::string& message) { return {Code::kInvalidArgument, message}; }

Result<int> parse_count(const std::string& name, const std::string& text, int least) {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size() || value < least || value > 1024)
    return usage_error(name + " is '" + text + "', expected a number from " +
                       std::to_string(least) + " to 1024");
  return value;
}

Result<Options> parse(const std::vector<std::string>& arguments) {
  Options options;
  std::string repeat = "1", threads = "0";
  const std::map<std::string, std::string*> values = {
      {"--plans", &options.plans}, {"--characters", &options.characters},
      {"--json", &options.json},   {"--annotated", &options.annotated},
      {"--repeat", &repeat},       {"--threads", &threads}};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (const auto option = values.find(argument); option != values.end()) {
      if (i + 1 == arguments.size()) return usage_error(argument + " needs a value");
      *option->second = arguments[++i];
    } else if (argument.starts_with("-")) {
      return usage_error("unknown option " + argument);
    } else if (options.picture.empty()) {
      options.picture = argument;
    } else {
      return usage_error("one picture at a time, found '" + argument + "' as well");
    }
  }
  if (options.picture.empty() || options.plans.empty() || options.characters.empty())
    return usage_error("a picture, --plans and --characters are needed");
  const Result<int> repeats = parse_count("--repeat", repeat, 1);
  if (!repeats) return repeats.error();
  const Result<int> n_threads = parse_count("--threads", threads, 0);
  if (!n_threads) return n_threads.error();
  options.repeat = *repeats;
  options.threads = *n_threads;
  return options;
}

Result<void> write_text(const std::string& text, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) return Error{Code::kIo, "cannot write '" + path + "'"};
  return {};
}

Result<void> run(const Options& options) {
  const Result<ocr::Image> page = ocr::read_image(options.picture);
  if (!page) return page.error();
  tilewright::EngineOptions engine_options;
  engine_options.threads = options.threads;
  Result<ocr::Reader> reader = ocr::Reader::load(options.plans, options.characters, engine_options);
  if (!reader) return reader.error();

  Result<std::vector<ocr::Line>> lines = reader->read(*page);
  for (int i = 1; i < options.repeat && lines; ++i) lines = reader->read(*page);
  if (!lines) return lines.error();

  ocr::print_lines(std::cout, *lines);
  ocr::print_models(std::cout, {&reader->detector, &reader->classifier, &reader->recogniser});
  if (!options.json.empty()) {
    const Result<void> written = write_text(ocr::lines_json(*lines), options.json);
    if (!written) return written.error();
  }
  if (!options.annotated.empty()) {
    std::vector<ocr::Quad> quads;
    for (const ocr::Line& line : *lines) quads.push_back(line.quad);
    return ocr::write_png(ocr::annotate(*page, quads), options.annotated);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::cout << kUsage;
    return 0;
  }
  const Result<Options> options = parse(arguments);
  if (!options) {
    std::cerr << "tilewright_ocr: " << options.error().message << '\n' << kUsage;
    return 2;
  }
  const Result<void> done = run(*options);
  if (!done) {
    std::cerr << "tilewright_ocr: " << done.error().message << '\n';
    return 1;
  }
  return 0;
}
