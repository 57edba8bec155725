#include "api/shapes.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "frontends/onnx/import.h"
#include "ir/infer.h"

namespace tw::api {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<GivenDim> parse_dim_word(std::string_view text) {
  GivenDim dim;
  const bool is_number = !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
  if (is_number) {
    int64_t size = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (failure != std::errc() || end != text.data() + text.size())
      return error(Code::kInvalidArgument, "'", text, "' is no size");
    dim.size = size;
    return dim;
  }
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_letter))
    return error(Code::kInvalidArgument, "'", text, "' is neither a size nor a letter");
  dim.word = text;
  return dim;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_batch_name(const std::string& symbol) {
  const std::string lower = lower_case(symbol);
  return lower == "n" || lower.find("batch") != std::string::npos;
}

/// What people call the size at `axis` of a tensor of this rank.
char usual_letter(const std::string& symbol, size_t axis, size_t rank) {
  const std::string lower = lower_case(symbol);
  if (is_batch_name(symbol) || axis == 0) return 'N';
  if (lower.find("height") != std::string::npos || (rank == 4 && axis == 2)) return 'H';
  if (lower.find("width") != std::string::npos || (rank == 4 && axis == 3)) return 'W';
  return rank == 4 ? 'C' : 'S';
}

/// A word for the size in a command to paste: short, without 'x', and not used for another symbol.
std::string word_for(const std::string& symbol, size_t axis, size_t rank,
                     std::map<std::string, std::string>& words) {
  const auto known = words.find(symbol);
  if (known != words.end()) return known->second;
  const std::string letter(1, usual_letter(symbol, axis, rank));
  const auto taken = [&](const std::string& word) {
    return std::any_of(words.begin(), words.end(),
                       [&](const auto& entry) { return entry.second == word; });
  };
  std::string word = letter;
  for (int suffix = 2; taken(word); ++suffix) word = cat(letter, suffix);
  return words[symbol] = word;
}

/// The --shapes text that leaves every open size of the graph's inputs open.
std::string open_shapes(const ir::Graph& graph) {
  std::map<std::string, std::string> words;
  std::vector<std::string> inputs;
  for (const ir::ValueId id : graph.inputs) {
    const ir::Value& input = graph.value(id);
    std::vector<std::string> dims;
    for (size_t axis = 0; axis < input.type.shape.size(); ++axis) {
      const auto symbol = input.type.shape[axis].as_symbol();
      dims.push_back(symbol ? word_for(*symbol, axis, input.type.shape.size(), words)
                            : to_string(input.type.shape[axis]));
    }
    if (!dims.empty()) inputs.push_back(cat(input.name, ":", join(dims, "x")));
  }
  return join(inputs, ",");
}

/// Symbols that are a batch: by name, or because every input with dims opens with this one.
bool is_batch(const ir::Graph& graph, const onnx::InputSymbol& where) {
  if (where.axis != 0) return false;
  if (is_batch_name(where.symbol)) return true;
  bool unnamed_everywhere = true, same_everywhere = true;
  for (const ir::ValueId id : graph.inputs) {
    const ir::Value& input = graph.value(id);
    if (input.type.shape.empty()) continue;
    const auto first = input.type.shape[0].as_symbol();
    same_everywhere = same_everywhere && first == where.symbol;
    unnamed_everywhere = unnamed_everywhere && first && first->ends_with("_dim0");
  }
  return same_everywhere || unnamed_everywhere;
}

Result<void> substitute(ir::Graph& graph, const std::map<std::string, Dim>& replacements) {
  if (replacements.empty()) return {};
  for (const ir::ValueId id : graph.inputs)
    for (Dim& dim : graph.value(id).type.shape)
      dim = dim.substitute([&](const std::string& symbol) {
        const auto found = replacements.find(symbol);
        return found == replacements.end() ? Dim::symbol(symbol) : found->second;
      });
  return ir::infer_graph(graph).in("with the sizes given");
}

}  // namespace

Result<std::vector<GivenDim>> parse_dims(std::string_view text) {
  std::vector<GivenDim> dims;
  if (text.empty()) return dims;
  for (const std::string_view part : split(text, 'x')) dims.push_back(TRY(parse_dim_word(part)));
  if (dims.size() > kMaxRank)
    return error(Code::kInvalidArgument, "found ", dims.size(), " dims, expected at most ",
                 kMaxRank);
  return dims;
}

Result<GivenShapes> parse_shapes(std::string_view text) {
  GivenShapes shapes;
  if (text.empty()) return shapes;
  for (const std::string_view part : split(text, ',')) {
    const size_t colon = part.rfind(':');
    if (colon == std::string_view::npos || colon == 0)
      return error(Code::kInvalidArgument, "'", part, "' is not NAME:1x3xHxW");
    auto dims = TRY(parse_dims(part.substr(colon + 1)).in(cat("in '", part, "'")));
    if (!shapes.emplace(part.substr(0, colon), std::move(dims)).second)
      return error(Code::kInvalidArgument, "input '", part.substr(0, colon), "' is given twice");
  }
  return shapes;
}

std::map<std::string, std::vector<int64_t>> bound_sizes(const GivenShapes& shapes) {
  std::map<std::string, std::vector<int64_t>> sizes;
  for (const auto& [input, dims] : shapes)
    for (const GivenDim& dim : dims) sizes[input].push_back(dim.size.value_or(-1));
  return sizes;
}

Result<void> settle_sizes(ir::Graph& graph, const GivenShapes& shapes, const std::string& paste,
                          const std::function<void(std::string_view)>& note) {
  std::map<std::string, Dim> replacements;
  std::map<std::string, std::string> symbol_of_word;
  std::set<std::string> covered;
  std::vector<std::string> notes;
  const std::vector<onnx::InputSymbol> symbols = onnx::input_symbols(graph);
  for (const onnx::InputSymbol& where : symbols) {
    const auto given = shapes.find(where.input);
    if (given == shapes.end()) continue;
    covered.insert(where.symbol);
    const auto [known, is_new] =
        symbol_of_word.emplace(given->second[where.axis].word, where.symbol);
    if (!is_new && known->second != where.symbol)
      replacements.emplace(where.symbol, Dim::symbol(known->second));
  }
  for (const onnx::InputSymbol& where : symbols) {
    if (covered.contains(where.symbol) || replacements.contains(where.symbol)) continue;
    if (!is_batch(graph, where))
      return error(Code::kInvalidArgument, "size '", where.symbol, "' of input '", where.input,
                   "' is open; give its sizes, or keep them open: ", paste, "--shapes ",
                   open_shapes(graph));
    if (replacements.emplace(where.symbol, Dim(1)).second)
      notes.push_back(cat("batch '", where.symbol, "' of input '", where.input,
                          "' becomes 1; to keep it open: --shapes ", open_shapes(graph)));
  }
  if (note)
    for (const std::string& sentence : notes) note(sentence);
  return substitute(graph, replacements);
}

}  // namespace tw::api
