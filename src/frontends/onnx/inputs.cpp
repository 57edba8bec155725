#include "frontends/onnx/inputs.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "frontends/onnx/tensor_data.h"

namespace tw::onnx {
namespace {

/// Exporters write "?", "-1" or "None" for dims that have no name; two of them are not the same
/// dim.
bool is_name(const std::string& symbol) {
  if (symbol == "None" || symbol == "none" || symbol == "null") return false;
  return std::any_of(symbol.begin(), symbol.end(),
                     [](unsigned char c) { return std::isalpha(c) != 0; });
}

/// Whether shape inference makes such symbols itself ("u0").
bool is_reserved(const std::string& symbol) {
  return symbol.size() > 1 && symbol[0] == 'u' &&
         std::all_of(symbol.begin() + 1, symbol.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Gives every dim name of the model a symbol that Dim's text form can spell; different names,
/// different symbols.
class Symbols {
 public:
  Dim named(const std::string& name) { return lookup(name, name); }
  Dim unnamed(const std::string& input, size_t axis) {
    const std::string text = cat(input, "_dim", axis);
    return lookup(cat('\0', text), text);  // no dim_param of the model can be the same key
  }

 private:
  Dim lookup(const std::string& key, const std::string& wanted) {
    const auto [known, is_new] = symbols_.emplace(key, "");
    if (is_new) known->second = unique(sanitised(wanted));
    return Dim::symbol(known->second);
  }

  static std::string sanitised(const std::string& wanted) {
    constexpr size_t kLongest = 100;
    std::string symbol = wanted.substr(0, kLongest);
    for (char& c : symbol)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') c = '_';
    if (std::isdigit(static_cast<unsigned char>(symbol[0])) != 0) symbol = cat("d", symbol);
    if (is_reserved(symbol)) symbol += '_';
    return symbol;
  }

  std::string unique(const std::string& wanted) {
    std::string symbol = wanted;
    for (int suffix = 2; !taken_.insert(symbol).second; ++suffix) symbol = cat(wanted, "_", suffix);
    return symbol;
  }

  std::map<std::string, std::string> symbols_;
  std::set<std::string> taken_;
};

Result<ir::Shape> model_shape(const RawInput& input, Symbols& symbols) {
  ir::Shape shape;
  std::vector<int64_t> sizes;  // symbols count as 1
  for (const RawDim& dim : *input.shape) {
    const size_t axis = shape.size();
    if (dim.size && *dim.size != -1) {  // exporters write -1 for a size that is open
      if (*dim.size > kMaxDimension)
        return error(Code::kInvalidModel, "dimension ", axis, " is ", *dim.size,
                     ", expected at most ", kMaxDimension);
      shape.push_back(Dim(*dim.size));
    } else {
      shape.push_back(is_name(dim.symbol) ? symbols.named(dim.symbol)
                                          : symbols.unnamed(input.name, axis));
    }
    sizes.push_back(dim.size && *dim.size != -1 ? *dim.size : 1);
  }
  TRY(to_dims(sizes));
  return shape;
}

Result<ir::Shape> unranked_shape(const RawInput& input, const std::vector<int64_t>& given,
                                 Symbols& symbols) {
  ir::Shape shape;
  for (const int64_t size : given)
    shape.push_back(size == -1 ? symbols.unnamed(input.name, shape.size()) : Dim(size));
  return shape;
}

Result<void> check_given(const std::vector<int64_t>& given) {
  std::vector<int64_t> sizes;
  for (const int64_t size : given) {
    if (size < -1 || size > kMaxDimension)
      return error(Code::kInvalidArgument, "the given dimension ", size, " is not -1 to ",
                   kMaxDimension);
    sizes.push_back(std::max<int64_t>(size, 1));
  }
  TRY(to_dims(sizes));
  return {};
}

using Bindings = std::map<std::string, int64_t>;

/// Records what `given` says about the symbols of `shape`.
Result<void> bind_symbols(const ir::Shape& shape, const std::vector<int64_t>& given,
                          Bindings& bindings) {
  if (given.size() != shape.size())
    return error(Code::kInvalidArgument, "the given shape has ", given.size(),
                 " dimensions, the model's [", join(shape, ","), "] has ", shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (given[axis] == -1) continue;
    const auto symbol = shape[axis].as_symbol();
    const int64_t known =
        symbol ? bindings.emplace(*symbol, given[axis]).first->second : shape[axis].constant();
    if (known != given[axis])
      return error(Code::kInvalidArgument, "dimension ", axis, " is given as ", given[axis],
                   ", but ", symbol ? cat("symbol '", *symbol, "' is given as ") : "the model has ",
                   known);
  }
  return {};
}

Result<void> check_names(const std::vector<RawInput>& inputs, const ImportOptions& options) {
  std::vector<std::string> names;
  for (const RawInput& input : inputs) names.push_back(in_quotes(input.name));
  for (const auto& [name, _] : options.shapes)
    if (std::find(names.begin(), names.end(), in_quotes(name)) == names.end())
      return error(Code::kInvalidArgument, "a shape is given for ", in_quotes(name),
                   ", which is no input; the inputs are ", join(names, ", "));
  return {};
}

Result<ir::TensorType> model_type(const RawInput& input, const ImportOptions& options,
                                  Symbols& symbols, Bindings& bindings) {
  ir::TensorType type{*input.dtype, {}};
  const auto given = options.shapes.find(input.name);
  const bool is_given = given != options.shapes.end();
  if (is_given) TRY(check_given(given->second));
  if (!input.shape && !is_given)
    return error(Code::kUnsupported, "the model gives it no shape; give its shape in the options");
  type.shape = input.shape ? TRY(model_shape(input, symbols))
                           : TRY(unranked_shape(input, given->second, symbols));
  if (is_given) TRY(bind_symbols(type.shape, given->second, bindings));
  return type;
}

}  // namespace

Result<std::vector<ir::TensorType>> input_types(const std::vector<RawInput>& inputs,
                                                const ImportOptions& options) {
  TRY(check_names(inputs, options));
  Symbols symbols;
  Bindings bindings;
  std::vector<ir::TensorType> types;
  for (const RawInput& input : inputs)
    types.push_back(TRY(model_type(input, options, symbols, bindings)
                            .in(cat("graph input ", in_quotes(input.name)))));
  for (ir::TensorType& type : types)
    for (Dim& dim : type.shape)
      dim = dim.substitute([&](const std::string& symbol) {
        const auto bound = bindings.find(symbol);
        return bound != bindings.end() ? Dim(bound->second) : Dim::symbol(symbol);
      });
  return types;
}

}  // namespace tw::onnx
