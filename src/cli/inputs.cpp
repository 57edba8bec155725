#include "cli/inputs.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>

#include "cli/console.h"
#include "cli/npy.h"
#include "cli/tensor_proto.h"

namespace tw::cli {
namespace {

std::vector<double> parse_numbers(const std::string& text) {
  std::vector<double> numbers;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    numbers.push_back(std::strtod(text.substr(at, end - at).c_str(), nullptr));
    at = end + 1;
  }
  return numbers;
}

bool has_extension(std::string_view path, std::initializer_list<std::string_view> extensions) {
  std::string lower(path);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](std::string_view e) { return lower.ends_with(e); });
}

/// "random" and "random:SEED".
std::optional<uint64_t> random_seed(std::string_view source) {
  if (source == "random") return 0;
  if (!source.starts_with("random:")) return std::nullopt;
  return std::strtoull(std::string(source.substr(7)).c_str(), nullptr, 10);
}

/// Fills the inputs of one model from sources, one after the other.
class InputReader {
 public:
  InputReader(const std::vector<plan::Port>& ports, const ImageOptions& image)
      : ports_(ports), image_(image), tensors_(ports.size()), seeds_(ports.size()) {}

  Result<void> add(const std::string& source) {
    const size_t equals = source.find('=');
    if (equals == std::string::npos || std::filesystem::exists(source)) return add_unnamed(source);
    return add_to(TRY(port_index(source.substr(0, equals))), source.substr(equals + 1))
        .in(cat("input '", source.substr(0, equals), "'"));
  }

  /// What is left is random.
  Result<std::vector<Tensor>> finish(const api::GivenShapes& shapes,
                                     std::optional<uint64_t> default_seed, Console& console) {
    std::vector<plan::Port> missing;
    for (size_t i = 0; i < ports_.size(); ++i) {
      if (tensors_[i]) continue;
      if (!seeds_[i] && !default_seed)
        return error(Code::kInvalidArgument, "input '", ports_[i].name, "' (", port_type(ports_[i]),
                     ") is not given; add --input ", ports_[i].name, "=FILE or --input random");
      missing.push_back(ports_[i]);
    }
    const std::vector<Dims> dims = TRY(concrete_dims(missing, shapes, console));
    std::vector<Tensor> inputs;
    for (size_t i = 0, next = 0; i < ports_.size(); ++i) {
      if (tensors_[i])
        inputs.push_back(*tensors_[i]);
      else
        inputs.push_back(TRY(random_tensor(ports_[i].dtype, dims[next++],
                                           seeds_[i].value_or(default_seed.value_or(0)) + i)
                                 .in(cat("input '", ports_[i].name, "'"))));
    }
    return inputs;
  }

 private:
  Result<size_t> port_index(std::string_view name) const {
    std::vector<std::string_view> names;
    for (const plan::Port& port : ports_) names.push_back(port.name);
    for (size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return i;
    return error(Code::kInvalidArgument, "there is no input '", name, "'",
                 did_you_mean(name, names), "; the inputs are ", join(names, ", "));
  }

  Result<size_t> next_free() const {
    for (size_t i = 0; i < ports_.size(); ++i)
      if (!tensors_[i] && !seeds_[i]) return i;
    return error(Code::kInvalidArgument, "more inputs are given than the model's ", ports_.size());
  }

  Result<void> set(size_t index, Tensor tensor) {
    if (tensors_[index])
      return error(Code::kInvalidArgument, "input '", ports_[index].name, "' is given twice");
    tensors_[index] = std::move(tensor);
    return {};
  }

  Result<void> add_unnamed(const std::string& source) {
    if (const auto seed = random_seed(source)) {
      for (size_t i = 0; i < ports_.size(); ++i)
        if (!tensors_[i]) seeds_[i] = *seed;
      return {};
    }
    if (has_extension(source, {".npz"})) {
      for (auto& [name, tensor] : TRY(read_npz(source)))
        TRY(set(TRY(port_index(name).in(cat("'", source, "'"))), std::move(tensor)));
      return {};
    }
    if (std::filesystem::is_directory(source)) {
      std::vector<Tensor> tensors = TRY(read_folder(source, ports_, "input"));
      for (size_t i = 0; i < tensors.size(); ++i) TRY(set(i, std::move(tensors[i])));
      return {};
    }
    const size_t index = TRY(next_free());
    return add_to(index, source).in(cat("input '", ports_[index].name, "'"));
  }

  Result<void> add_to(size_t index, const std::string& source) {
    if (const auto seed = random_seed(source)) {
      seeds_[index] = *seed;
      return {};
    }
    if (has_extension(source, {".npy"})) return set(index, TRY(read_npy(source)));
    if (has_extension(source, {".png", ".jpg", ".jpeg"}))
      return set(index, TRY(read_image(source, ports_[index], image_)));
    if (has_extension(source, {".npz"})) {
      for (auto& [name, tensor] : TRY(read_npz(source)))
        if (name == ports_[index].name) return set(index, std::move(tensor));
      return error(Code::kNotFound, "'", source, "' has no array of this name");
    }
    return error(Code::kInvalidArgument, "cannot read '", source,
                 "': expected .npy, .npz, .png, .jpg, a test_data_set folder or random[:SEED]");
  }

  const std::vector<plan::Port>& ports_;
  const ImageOptions& image_;
  std::vector<std::optional<Tensor>> tensors_;
  std::vector<std::optional<uint64_t>> seeds_;
};

bool is_batch(const std::string& symbol, size_t axis) {
  std::string lower = symbol;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return axis == 0 &&
         (lower == "n" || lower.find("batch") != std::string::npos || lower.ends_with("_dim0"));
}

}  // namespace

Result<void> check_shapes(std::string_view value) {
  TRY(api::parse_shapes(value));
  return {};
}

Result<void> check_numbers(std::string_view value) {
  const std::string text(value);
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    char* stop = nullptr;
    const double number = std::strtod(part.c_str(), &stop);
    if (part.empty() || *stop != '\0' || !std::isfinite(number))
      return error(Code::kInvalidArgument, "'", part, "' is no number");
    at = end + 1;
  }
  return {};
}

ImageOptions image_options(const Arguments& arguments) {
  ImageOptions options;
  if (const auto mean = arguments.value("--mean")) options.mean = parse_numbers(*mean);
  if (const auto std = arguments.value("--std")) options.std = parse_numbers(*std);
  options.bgr = arguments.has("--bgr");
  options.nhwc = arguments.has("--nhwc");
  return options;
}

api::GivenShapes given_shapes(const Arguments& arguments) {
  auto shapes = api::parse_shapes(arguments.value("--shapes").value_or(""));
  CHECK(shapes.ok(), "the value has passed check_shapes");
  return std::move(shapes).take();
}

Result<std::vector<Tensor>> read_inputs(const std::vector<plan::Port>& ports,
                                        const std::vector<std::string>& sources,
                                        const ImageOptions& image, const api::GivenShapes& shapes,
                                        std::optional<uint64_t> default_seed, Console& console) {
  InputReader reader(ports, image);
  for (const std::string& source : sources) TRY(reader.add(source));
  return reader.finish(shapes, default_seed, console);
}

Result<std::vector<Dims>> concrete_dims(const std::vector<plan::Port>& ports,
                                        const api::GivenShapes& shapes, Console& console) {
  std::map<std::string, int64_t> sizes;
  for (const plan::Port& port : ports) {
    const auto given = shapes.find(port.name);
    if (given == shapes.end()) continue;
    if (given->second.size() != port.shape.size())
      return error(Code::kInvalidArgument, "--shapes gives input '", port.name, "' ",
                   given->second.size(), " dims, expected ", port_type(port));
    for (size_t d = 0; d < port.shape.size(); ++d) {
      const auto symbol = port.shape[d].as_symbol();
      const auto size = given->second[d].size;
      if (symbol && size) sizes.emplace(*symbol, *size);
      if (size && port.shape[d].known().value_or(*size) != *size)
        return error(Code::kInvalidArgument, "--shapes gives dim ", d, " of input '", port.name,
                     "' as ", *size, ", expected ", port_type(port));
    }
  }
  std::vector<Dims> all;
  for (const plan::Port& port : ports) {
    Dims dims;
    for (size_t d = 0; d < port.shape.size(); ++d) {
      if (const auto symbol = port.shape[d].as_symbol(); symbol && !sizes.contains(*symbol)) {
        if (!is_batch(*symbol, d))
          return error(Code::kInvalidArgument, "size '", *symbol, "' of input '", port.name, "' (",
                       port_type(port), ") is open; give it a number: --shapes ", port.name,
                       ":...");
        console.note(cat("batch '", *symbol, "' of input '", port.name, "' is 1"));
        sizes[*symbol] = 1;
      }
      const auto value_of = [&](std::string_view name) -> std::optional<int64_t> {
        const auto found = sizes.find(std::string(name));
        return found == sizes.end() ? std::nullopt : std::optional(found->second);
      };
      dims.push_back(TRY(port.shape[d].evaluate(value_of)));
    }
    all.push_back(dims);
  }
  return all;
}

Result<Tensor> random_tensor(DType dtype, const Dims& dims, uint64_t seed) {
  Tensor tensor = TRY(Tensor::try_make(dtype, dims));
  std::mt19937_64 generator(seed);
  const auto uniform = [&] { return (static_cast<double>(generator() >> 11) + 0.5) * 0x1p-53; };
  for (int64_t i = 0; i < tensor.count(); ++i) {
    if (!is_float(dtype)) {
      tensor.set_int(i, static_cast<int64_t>(generator() >> 63));
      continue;
    }
    const double radius = std::sqrt(-2 * std::log(uniform()));
    tensor.set_float(i, radius * std::cos(6.283185307179586 * uniform()));
  }
  return tensor;
}

Result<std::vector<Tensor>> read_folder(const std::string& folder,
                                        const std::vector<plan::Port>& ports,
                                        std::string_view prefix) {
  std::vector<Tensor> tensors;
  if (std::filesystem::exists(cat(folder, "/", prefix, "_0.pb"))) {
    std::vector<NamedTensor> read = TRY(read_test_data(folder, prefix));
    if (read.size() != ports.size())
      return error(Code::kInvalidArgument, "'", folder, "' has ", read.size(), " ", prefix,
                   "s, expected ", ports.size());
    for (NamedTensor& named : read) tensors.push_back(std::move(named.tensor));
    return tensors;
  }
  for (const plan::Port& port : ports)
    tensors.push_back(TRY(read_npy(cat(folder, "/", file_name(port.name), ".npy"))));
  return tensors;
}

std::string port_type(const plan::Port& port) {
  return cat(port.dtype, "[", join(port.shape, ","), "]");
}

std::string file_name(std::string_view name) {
  std::string file(name);
  for (char& c : file)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return file;
}

}  // namespace tw::cli
