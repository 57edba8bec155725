#include "graph_make.h"

#include <algorithm>

#include "graph_patterns.h"
#include "ir/infer.h"
#include "ir/op_def.h"

namespace tw::fuzz {
namespace {

constexpr int64_t kMaxElements = 2048;

constexpr std::string_view kDiscontinuous[] = {"arg_max",
                                               "arg_min",
                                               "cast",
                                               "cast_like",
                                               "ceil",
                                               "compress",
                                               "equal",
                                               "floor",
                                               "greater",
                                               "hardmax",
                                               "greater_or_equal",
                                               "is_inf",
                                               "is_nan",
                                               "less",
                                               "mod",
                                               "non_zero",
                                               "less_or_equal",
                                               "one_hot",
                                               "range",
                                               "round",
                                               "shrink",
                                               "sign",
                                               "thresholded_relu",
                                               "top_k"};

// Give elements of their inputs back as they are.
constexpr std::string_view kMoves[] = {"identity",  "transpose", "reshape", "flatten", "squeeze",
                                       "unsqueeze", "slice",     "concat",  "split",   "gather",
                                       "expand",    "tile",      "pad",     "relu"};

bool is_in(std::string_view name, std::span<const std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Bodies of control flow have no text form; patterns make those.
bool has_cases(const ir::OpDef& op) { return !op.cases.empty(); }

int64_t elements_of(const ir::OpCase& made) {
  int64_t most = 0;
  for (const Tensor& tensor : made.inputs) most = std::max(most, tensor.count());
  for (const ir::ValueId id : made.graph.outputs)
    if (const auto dims = ir::concrete(made.graph.value(id).type.shape))
      most = std::max(most, element_count(*dims));
  return most;
}

}  // namespace

bool is_discontinuous(std::string_view op) { return is_in(op, kDiscontinuous); }

size_t Choices::below(size_t limit) {
  size_t value = 0;
  for (int i = 0; i < 2 && !bytes_.empty(); ++i) {
    value = value << 8 | static_cast<uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
  }
  return value % limit;
}

GraphMaker::GraphMaker(Choices& choices) : choices_(choices), builder_(graph, graph.nodes, "n") {
  graph.name = "random";
  constexpr int64_t kSymbolSizes[] = {0, 2, 4};  // programs are built at these first
  symbol_size_ = kSymbolSizes[choices_.below(std::size(kSymbolSizes))];
}

ir::ValueId GraphMaker::add_input(const Tensor& tensor) {
  ir::Value value;
  value.name = cat("x", inputs.size());
  value.type = {tensor.dtype(), ir::to_shape(tensor.dims())};
  for (Dim& dim : value.type.shape)
    if (symbol_size_ > 0 && dim == Dim(symbol_size_) && choices_.one_in(2)) dim = Dim::symbol("n");
  const ir::ValueId id = graph.add_value(std::move(value));
  graph.inputs.push_back(id);
  inputs.push_back(tensor);
  exact_.resize(graph.values.size(), false);
  exact_[static_cast<size_t>(id)] = true;
  return id;
}

std::optional<ir::ValueId> GraphMaker::existing(DType dtype, const Dims* dims, bool exact) {
  std::vector<ir::ValueId> fitting;
  exact_.resize(graph.values.size(), false);
  const std::vector<int> made_by = ir::producers(graph);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const auto id = static_cast<ir::ValueId>(i);
    const ir::Value& value = graph.value(id);
    const bool there = made_by[i] >= 0 || std::count(graph.inputs.begin(), graph.inputs.end(), id);
    if (!there || value.type.dtype != dtype || (exact && !is_exact(id))) continue;
    if (dims != nullptr && !(value.type.shape == ir::to_shape(*dims))) continue;
    fitting.push_back(id);
  }
  if (fitting.empty()) return std::nullopt;
  return fitting[choices_.below(fitting.size())];
}

void GraphMaker::note_exact(const ir::Node& node) {
  exact_.resize(graph.values.size(), false);
  bool all = is_in(node.op->name, kMoves);
  for (const ir::ValueId id : node.inputs)
    all = all && (id == ir::kNoValue || graph.value(id).constant || is_exact(id));
  for (const ir::ValueId id : node.outputs)
    if (id != ir::kNoValue)
      exact_[static_cast<size_t>(id)] = all || !is_float(graph.value(id).type.dtype);
}

/// `alone`: on inputs of its own, which the case's author has tried.
bool GraphMaker::try_case(const ir::OpCase& made, bool alone) {
  const ir::Node& node = made.graph.nodes.front();
  const bool exact = is_discontinuous(node.op->name);
  std::vector<ir::ValueId> operands;
  for (const ir::ValueId id : node.inputs) {
    if (id == ir::kNoValue) {
      operands.push_back(id);
      continue;
    }
    const ir::Value& value = made.graph.value(id);
    if (value.constant) {
      operands.push_back(builder_.constant(*value.constant));
      continue;
    }
    const auto place = std::find(made.graph.inputs.begin(), made.graph.inputs.end(), id);
    const Tensor& tensor = made.inputs[static_cast<size_t>(place - made.graph.inputs.begin())];
    const Dims dims = tensor.dims();
    std::optional<ir::ValueId> found;
    if (!alone && !choices_.one_in(4))
      found = existing(tensor.dtype(), choices_.one_in(2) ? &dims : nullptr, exact);
    operands.push_back(found ? *found : add_input(tensor));
  }
  const size_t before = graph.nodes.size();
  const auto outputs =
      builder_.ops(node.op->name, std::move(operands), node.attrs, node.outputs.size());
  if (!outputs.ok()) return false;
  for (const ir::ValueId id : outputs.value()) {
    const auto dims = ir::concrete(graph.value(id).type.shape);
    if (!dims || element_count(*dims) <= kMaxElements) continue;
    graph.nodes.resize(before);
    return false;
  }
  note_exact(graph.nodes.back());
  return true;
}

void GraphMaker::add_case() {
  const auto table = ir::op_table();
  const ir::OpDef* op = table[choices_.below(table.size())];
  if (!has_cases(*op)) return;
  const auto made =
      ir::make_case(*op, op->cases[choices_.below(op->cases.size())], 1 + choices_.below(1000));
  if (!made.ok()) fail(cat("a case cannot be made: ", made.error().message));
  if (elements_of(made.value()) > kMaxElements) return;
  if (!try_case(made.value(), false)) try_case(made.value(), true);
}

void GraphMaker::add_pattern() {
  const size_t before = graph.nodes.size();
  if (!Patterns(*this).add()) graph.nodes.resize(before);
  for (size_t n = before; n < graph.nodes.size(); ++n) note_exact(graph.nodes[n]);
}

bool GraphMaker::finish() {
  const std::vector<int> uses = ir::use_counts(graph);
  for (const ir::Node& node : graph.nodes)
    for (const ir::ValueId id : node.outputs)
      if (id != ir::kNoValue && (uses[static_cast<size_t>(id)] == 0 || choices_.one_in(6)))
        graph.outputs.push_back(id);
  if (!graph.inputs.empty() && choices_.one_in(16)) graph.outputs.push_back(graph.inputs.front());
  if (!graph.outputs.empty() && choices_.one_in(16)) graph.outputs.push_back(graph.outputs.front());
  return !graph.nodes.empty();
}

}  // namespace tw::fuzz
