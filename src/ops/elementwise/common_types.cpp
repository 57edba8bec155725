#include "ops/elementwise/common_types.h"

namespace tw::ops {
namespace {

TypeSet set_of(DType dtype) {
  if (is_float(dtype)) return kFloats;
  if (is_signed_int(dtype)) return kSignedInts;
  return dtype == DType::kBool ? kBools : kUnsignedInts;
}

std::string describe(TypeSet allowed) {
  std::vector<std::string_view> names;
  if ((allowed & kFloats) != 0) names.push_back("float");
  if ((allowed & kInts) == kInts)
    names.push_back("integer");
  else if ((allowed & kSignedInts) != 0)
    names.push_back("signed integer");
  else if ((allowed & kUnsignedInts) != 0)
    names.push_back("unsigned integer");
  if ((allowed & kBools) != 0) names.push_back("bool");
  return join(names, " or ");
}

/// The name that the op gives input `i`; the inputs of a variadic op share one.
std::string_view input_name(const ir::InferContext& c, size_t i) {
  const auto& names = c.node().op->inputs;
  std::string_view name = names[i < names.size() ? i : names.size() - 1];
  while (name.ends_with('.') || name.ends_with('?')) name.remove_suffix(1);
  return name;
}

}  // namespace

Result<void> expect_type(const ir::InferContext& c, size_t input, TypeSet allowed) {
  const DType found = c.in(input).dtype;
  if ((set_of(found) & allowed) != 0) return {};
  return error(Code::kInvalidModel, "input '", input_name(c, input), "' is ", found, ", expected ",
               describe(allowed));
}

Result<void> expect_same_dtype(const ir::InferContext& c, size_t first) {
  for (size_t i = first + 1; i < c.n_inputs(); ++i)
    if (c.has(i) && c.in(i).dtype != c.in(first).dtype)
      return error(Code::kInvalidModel, "input ", i, " ('", input_name(c, i), "') is ",
                   c.in(i).dtype, ", expected ", c.in(first).dtype, " as input ", first, " ('",
                   input_name(c, first), "')");
  return {};
}

/// `whole` is an expression of the bare symbol `symbol`.
static bool is_part_of(const Dim& symbol, const Dim& whole) {
  const auto name = symbol.as_symbol();
  bool found = false;
  if (name && !whole.as_symbol())
    whole.for_each_symbol([&](const std::string& s) { found = found || s == *name; });
  return found;
}

Result<Dim> broadcast_dim(const Dim& a, const Dim& b) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  if (a.is_constant() && b.is_constant())
    return error(Code::kInvalidModel, "dims ", a, " and ", b,
                 " do not broadcast: expected equal ones, or a 1");
  if (a.is_constant()) return a;
  if (b.is_constant()) return b;
  // S against min(S, 512): the model is legal only where both are S, and the task that reads them
  // checks it.
  if (is_part_of(a, b)) return a;
  if (is_part_of(b, a)) return b;
  return select(a - Dim(1), a, b);
}

Result<ir::Shape> broadcast_shapes(const ir::Shape& a, const ir::Shape& b) {
  const ir::Shape& longer = a.size() >= b.size() ? a : b;
  const ir::Shape& shorter = a.size() >= b.size() ? b : a;
  ir::Shape shape = longer;
  const size_t n_added = longer.size() - shorter.size();
  const std::string place = cat("shapes [", join(a, ","), "] and [", join(b, ","), "]");
  for (size_t d = 0; d < shorter.size(); ++d)
    shape[n_added + d] = TRY(broadcast_dim(longer[n_added + d], shorter[d]).in(place));
  return shape;
}

Result<ir::Shape> broadcast_inputs(const ir::InferContext& c, size_t first) {
  ir::Shape shape = c.shape(first);
  for (size_t i = first + 1; i < c.n_inputs(); ++i)
    if (c.has(i)) shape = TRY(broadcast_shapes(shape, c.shape(i)));
  return shape;
}

int64_t broadcast_index(const Dims& to, const Dims& from, int64_t i) {
  if (to == from) return i;
  int64_t index = 0;
  int64_t stride = 1;
  for (size_t k = 1; k <= from.size(); ++k) {
    const int64_t coordinate = i % to[to.size() - k];
    i /= to[to.size() - k];
    const int64_t dim = from[from.size() - k];
    if (dim != 1) index += coordinate * stride;
    stride *= dim;
  }
  return index;
}

}  // namespace tw::ops
