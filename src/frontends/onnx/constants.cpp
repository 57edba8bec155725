#include "frontends/onnx/constants.h"

namespace tw::onnx {
namespace {

Result<Tensor> float_tensor(std::span<const double> values, const Dims& dims) {
  Tensor tensor = TRY(Tensor::try_make(DType::kF32, dims));
  for (size_t i = 0; i < values.size(); ++i) tensor.set_float(static_cast<int64_t>(i), values[i]);
  return tensor;
}

template <class T>
const T* value_of(const RawAttr& attr, std::string_view name) {
  return attr.name == name ? std::get_if<T>(&attr.value) : nullptr;
}

Result<Tensor> tensor_of(const RawAttr& attr) {
  if (const auto* tensor = value_of<Tensor>(attr, "value")) return *tensor;
  if (const auto* integer = value_of<int64_t>(attr, "value_int"))
    return Tensor::from_ints({integer, 1}, true);
  if (const auto* integers = value_of<std::vector<int64_t>>(attr, "value_ints"))
    return Tensor::from_ints(*integers);
  if (const auto* real = value_of<double>(attr, "value_float"))
    return float_tensor({real, 1}, Dims{});
  if (const auto* reals = value_of<std::vector<double>>(attr, "value_floats"))
    return float_tensor(*reals, Dims{static_cast<int64_t>(reals->size())});
  return error(Code::kUnsupported, "attribute ", in_quotes(attr.name), " is not supported");
}

}  // namespace

Result<void> convert_constant(Scope& scope, const RawNode& node) {
  if (node.attrs.size() != 1 || node.outputs.size() != 1 || !node.inputs.empty())
    return error(Code::kInvalidModel, node.inputs.size(), " inputs, ", node.outputs.size(),
                 " outputs and ", node.attrs.size(), " attributes, expected 0, 1 and 1");
  Tensor tensor = TRY(tensor_of(node.attrs.front()));
  const std::string& name = node.outputs.front();
  if (!name.empty()) scope.names[name] = scope.graph.add_constant(name, std::move(tensor));
  return {};
}

}  // namespace tw::onnx
