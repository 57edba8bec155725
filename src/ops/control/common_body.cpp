#include "ops/control/common_body.h"

#include <cstring>
#include <map>

#include "ir/infer.h"

namespace tw::ops {
namespace {

// A body's own symbols are numbered from here, so that none has the name of a symbol of the outer
// graph.
constexpr int kFirstBodySymbol = 1 << 24;

void add_symbols(const Dim& dim, std::set<std::string>& names) {
  dim.for_each_symbol([&](const std::string& name) { names.insert(name); });
}

}  // namespace

ir::Value input_value(const ir::InferContext& c, size_t i) {
  ir::Value value = typed_value(c.in(i));
  if (const auto* ints = c.ints(i)) value.ints = *ints;
  if (const Tensor* constant = c.constant(i)) value.constant = *constant;
  return value;
}

ir::Value typed_value(ir::TensorType type) {
  ir::Value value;
  value.type = std::move(type);
  return value;
}

Result<std::vector<ir::Value>> infer_body(ir::InferContext& c, const ir::Graph& body,
                                          const std::vector<ir::Value>& inputs) {
  std::set<std::string> outer;
  for (const ir::Value& input : inputs) {
    for (const Dim& dim : input.type.shape) add_symbols(dim, outer);
    if (input.ints)
      for (const Dim& dim : *input.ints) add_symbols(dim, outer);
  }
  int n_symbols = kFirstBodySymbol;
  std::vector<ir::Value> outputs = TRY(ir::infer_outputs(body, inputs, &n_symbols));
  std::map<std::string, Dim> renamed;
  const auto rename = [&](const std::string& name) {
    if (outer.contains(name)) return Dim::symbol(name);
    const auto [at, is_new] = renamed.try_emplace(name);
    if (is_new) at->second = c.fresh_symbol();
    return at->second;
  };
  for (ir::Value& output : outputs) {
    for (Dim& dim : output.type.shape) dim = dim.substitute(rename);
    if (output.ints)
      for (Dim& dim : *output.ints) dim = dim.substitute(rename);
  }
  return outputs;
}

CarriedTypes::CarriedTypes(const ir::InferContext& c, size_t first, size_t n) {
  for (size_t i = 0; i < n; ++i) values_.push_back(typed_value(c.in(first + i)));
}

Result<bool> CarriedTypes::settle(ir::InferContext& c, const ir::Value* next) {
  bool settled = true;
  for (size_t i = 0; i < values_.size(); ++i) {
    ir::TensorType& now = values_[i].type;
    const ir::TensorType& then = next[i].type;
    if (now.dtype != then.dtype || now.shape.size() != then.shape.size())
      return error(Code::kUnsupported, "carried value ", i, " is ", now,
                   " before an iteration and ", then, " after it, expected the same type and rank");
    for (size_t d = 0; d < now.shape.size(); ++d) {
      const auto name = now.shape[d].as_symbol();
      if (now.shape[d] == then.shape[d] || (name && open_.contains(*name))) continue;
      now.shape[d] = c.fresh_symbol();
      open_.insert(*now.shape[d].as_symbol());
      settled = false;
    }
  }
  return settled;
}

Dim CarriedTypes::steady(ir::InferContext& c, const Dim& dim) const {
  bool varies = false;
  dim.for_each_symbol([&](const std::string& name) { varies = varies || open_.contains(name); });
  return varies ? c.fresh_symbol() : dim;
}

Result<Tensor> stack(const std::vector<Tensor>& items) {
  Dims dims{static_cast<int64_t>(items.size())};
  for (const int64_t dim : items.front().dims()) {
    if (dims.size() == kMaxRank)
      return error(Code::kUnsupported, "a scan output of rank ", kMaxRank + 1);
    dims.push_back(dim);
  }
  Tensor stacked = TRY(Tensor::try_make(items.front().dtype(), dims));
  const auto bytes = static_cast<size_t>(items.front().bytes());
  for (size_t i = 0; i < items.size(); ++i) {
    if (!(items[i].dims() == items.front().dims()))
      return error(Code::kInvalidModel, "a scan output is ", items[i].type_text(), " in iteration ",
                   i, " and ", items.front().type_text(), " in the first");
    if (bytes != 0) std::memcpy(stacked.mutable_data() + i * bytes, items[i].data(), bytes);
  }
  return stacked;
}

Result<Tensor> stack_of_none(const ir::TensorType& item) {
  Dims dims{0};
  for (const Dim& dim : item.shape) {
    if (dims.size() == kMaxRank)
      return error(Code::kUnsupported, "a scan output of rank ", kMaxRank + 1);
    dims.push_back(dim.known().value_or(0));
  }
  return Tensor::try_make(item.dtype, dims);
}

ir::Value concrete_value(const Tensor& tensor) {
  ir::Graph graph;
  return graph.value(graph.add_constant({}, tensor));
}

Tensor scalar_tensor(DType dtype, int64_t value) {
  auto made = Tensor::try_make(dtype, Dims{});
  CHECK(made.ok(), "one element fits in memory");
  Tensor tensor = std::move(made).take();
  tensor.set_int(0, value);
  return tensor;
}

}  // namespace tw::ops
