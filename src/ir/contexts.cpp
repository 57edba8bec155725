#include "ir/contexts.h"

#include "ir/infer.h"
#include "ir/op_def.h"

namespace tw::ir {
namespace {

/// The attribute or its default as T; CHECKs that the op declares the name, since hooks only read
/// their own attributes.
template <class T>
const T* typed_attr(const Node& node, std::string_view name) {
  const Attr* attr = find_attr(node, name);
  return attr == nullptr ? nullptr : std::get_if<T>(attr);
}

template <class T>
T read_attr(const Attrs& attrs, std::string_view name, T fallback) {
  const auto found = attrs.find(name);
  if (found == attrs.end()) return fallback;
  const T* value = std::get_if<T>(&found->second);
  return value == nullptr ? fallback : *value;
}

std::optional<Attr> default_of(const AttrDefault& fallback) {
  if (const auto* i = std::get_if<int64_t>(&fallback)) return Attr(*i);
  if (const auto* d = std::get_if<double>(&fallback)) return Attr(*d);
  if (const auto* s = std::get_if<std::string_view>(&fallback)) return Attr(std::string(*s));
  return std::nullopt;
}

/// Defaults live as long as the process, like the ops they belong to.
const Attr* default_attr(const OpDef& op, std::string_view name) {
  for (const AttrDef& def : op.attrs) {
    if (def.name != name) continue;
    static thread_local std::map<const AttrDef*, std::optional<Attr>> made;
    auto [it, inserted] = made.try_emplace(&def);
    if (inserted) it->second = default_of(def.fallback);
    return it->second ? &*it->second : nullptr;
  }
  return nullptr;
}

}  // namespace

const Attr* find_attr(const Node& node, std::string_view name) {
  const auto found = node.attrs.find(name);
  return found != node.attrs.end() ? &found->second : default_attr(*node.op, name);
}

bool NodeView::has_attr(std::string_view name) const { return find_attr(node_, name) != nullptr; }

int64_t NodeView::attr_int(std::string_view name) const {
  const auto* value = typed_attr<int64_t>(node_, name);
  return value == nullptr ? 0 : *value;
}

double NodeView::attr_float(std::string_view name) const {
  if (const auto* value = typed_attr<double>(node_, name)) return *value;
  return static_cast<double>(attr_int(name));
}

std::string NodeView::attr_string(std::string_view name) const {
  const auto* value = typed_attr<std::string>(node_, name);
  return value == nullptr ? std::string() : *value;
}

std::vector<int64_t> NodeView::attr_ints(std::string_view name) const {
  const auto* value = typed_attr<std::vector<int64_t>>(node_, name);
  return value == nullptr ? std::vector<int64_t>() : *value;
}

std::vector<double> NodeView::attr_floats(std::string_view name) const {
  const auto* value = typed_attr<std::vector<double>>(node_, name);
  return value == nullptr ? std::vector<double>() : *value;
}

const Tensor& NodeView::attr_tensor(std::string_view name) const {
  const auto* value = typed_attr<Tensor>(node_, name);
  CHECK(value != nullptr, "infer_node makes sure that a tensor attribute without default is there");
  return *value;
}

const Graph& NodeView::attr_graph(std::string_view name) const {
  const auto* value = typed_attr<std::shared_ptr<const Graph>>(node_, name);
  CHECK(value != nullptr && *value != nullptr,
        "the importer gives every control-flow node its bodies");
  return **value;
}

const std::vector<Dim>* InferContext::ints(size_t i) const {
  if (!has(i) || !inputs_[i]->ints) return nullptr;
  return &*inputs_[i]->ints;
}

const Tensor* InferContext::constant(size_t i) const {
  if (!has(i) || !inputs_[i]->constant) return nullptr;
  return &*inputs_[i]->constant;
}

std::optional<std::vector<int64_t>> InferContext::constant_ints(size_t i) const {
  std::vector<int64_t> numbers;
  if (const auto* known = ints(i)) {
    for (const Dim& dim : *known) {
      if (!dim.is_constant()) return std::nullopt;
      numbers.push_back(dim.constant());
    }
    return numbers;
  }
  const Tensor* tensor = constant(i);
  if (tensor == nullptr) return std::nullopt;
  for (int64_t k = 0; k < tensor->count(); ++k) numbers.push_back(tensor->int_at(k));
  return numbers;
}

Result<int64_t> InferContext::axis(int64_t value, int64_t rank, std::string_view what) const {
  const int64_t axis = value < 0 ? value + rank : value;
  if (axis < 0 || axis >= rank)
    return error(Code::kInvalidModel, what, " is ", value, ", expected -", rank, " to ", rank - 1,
                 " for a tensor of rank ", rank);
  return axis;
}

void InferContext::out(size_t i, TensorType type) {
  if (i < outputs_.size()) outputs_[i].type = std::move(type);
}

void InferContext::out_ints(size_t i, std::vector<Dim> known) {
  if (i < outputs_.size()) outputs_[i].ints = std::move(known);
}

Dim InferContext::fresh_symbol() { return Dim::symbol(cat("u", (*n_fresh_symbols_)++)); }

Result<void> EvalContext::allocate(size_t i, DType dtype, const Dims& dims) {
  outputs_[i] = TRY(Tensor::try_make(dtype, dims));
  return {};
}

std::string GraphBuilder::fresh_name(std::string_view hint) {
  return cat(prefix_, "/", hint, "_", graph_.values.size());
}

Result<std::vector<ValueId>> GraphBuilder::ops(std::string_view op_name,
                                               std::vector<ValueId> inputs, Attrs attrs,
                                               size_t n_outputs) {
  Node node;
  node.op = find_op(op_name);
  if (node.op == nullptr) return error(Code::kInternal, "no op '", op_name, "'");
  node.name = fresh_name(op_name);
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  for (size_t i = 0; i < n_outputs; ++i) {
    Value value;
    value.name = n_outputs == 1 ? node.name : cat(node.name, ":", i);
    node.outputs.push_back(graph_.add_value(std::move(value)));
  }
  TRY(infer_node(graph_, node));
  std::vector<ValueId> outputs = node.outputs;
  sink_.push_back(std::move(node));
  return outputs;
}

Result<ValueId> GraphBuilder::op(std::string_view op_name, std::vector<ValueId> inputs,
                                 Attrs attrs) {
  return TRY(ops(op_name, std::move(inputs), std::move(attrs), 1)).front();
}

ValueId GraphBuilder::constant(Tensor tensor) {
  return graph_.add_constant(fresh_name("constant"), std::move(tensor));
}

ValueId GraphBuilder::ints(const std::vector<int64_t>& values) {
  return constant(Tensor::from_ints(values));
}

ValueId GraphBuilder::scalar(DType dtype, double value) {
  auto made = Tensor::try_make(dtype, Dims{});
  CHECK(made.ok(), "one element fits in memory");
  Tensor tensor = std::move(made).take();
  tensor.set_float(0, value);
  return constant(std::move(tensor));
}

int64_t ImportContext::attr_int(std::string_view name, int64_t fallback) const {
  return read_attr(attrs_, name, fallback);
}
double ImportContext::attr_float(std::string_view name, double fallback) const {
  return read_attr(attrs_, name, fallback);
}
std::string ImportContext::attr_string(std::string_view name, std::string_view fallback) const {
  return read_attr(attrs_, name, std::string(fallback));
}
std::vector<int64_t> ImportContext::attr_ints(std::string_view name) const {
  return read_attr(attrs_, name, std::vector<int64_t>());
}

}  // namespace tw::ir
