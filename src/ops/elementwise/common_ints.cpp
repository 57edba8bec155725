#include "ops/elementwise/common_ints.h"

#include <algorithm>

namespace tw::ops {
namespace {

constexpr int64_t kMaxKnownInts =
    64;  // as long as the graph keeps of a constant: anything longer is data

bool atom_is_never_negative(const Dim::Atom& atom) {
  const auto operand = [&](size_t i) { return is_never_negative(atom.operands[i]); };
  switch (atom.op) {
    case Dim::Op::kSymbol:
      return true;
    case Dim::Op::kMod:
      return operand(1);
    case Dim::Op::kMax:
      return operand(0) || operand(1);
    case Dim::Op::kSelect:
      return operand(1) && operand(2);
    case Dim::Op::kFloorDiv:
    case Dim::Op::kMin:
      return operand(0) && operand(1);
  }
  return false;
}

}  // namespace

bool is_never_negative(const Dim& dim) {
  return std::ranges::all_of(dim.terms(), [](const Dim::Term& term) {
    return term.coefficient >= 0 && std::ranges::all_of(term.atoms, [](const Dim::AtomRef& atom) {
             return atom_is_never_negative(*atom);
           });
  });
}

int64_t wrap_int(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::kI8:
      return static_cast<int8_t>(value);
    case DType::kI16:
      return static_cast<int16_t>(value);
    case DType::kI32:
      return static_cast<int32_t>(value);
    case DType::kU8:
      return static_cast<uint8_t>(value);
    case DType::kU16:
      return static_cast<uint16_t>(value);
    case DType::kU32:
      return static_cast<uint32_t>(value);
    case DType::kBool:
      return value != 0 ? 1 : 0;
    default:
      return value;
  }
}

void propagate_ints(ir::InferContext& c,
                    const std::function<std::optional<Dim>(std::span<const Dim>)>& f) {
  const ir::TensorType& type = c.outputs()[0].type;
  const auto to = ir::concrete(type.shape);
  if (!to || is_float(type.dtype) || element_count(*to) > kMaxKnownInts) return;
  std::vector<Dims> from;
  for (size_t k = 0; k < c.n_inputs(); ++k) {
    const auto dims = ir::concrete(c.shape(k));
    if (c.ints(k) == nullptr || !dims) return;
    from.push_back(*dims);
  }
  std::vector<Dim> known;
  for (int64_t i = 0; i < element_count(*to); ++i) {
    std::vector<Dim> elements;
    for (size_t k = 0; k < from.size(); ++k)
      elements.push_back((*c.ints(k))[static_cast<size_t>(broadcast_index(*to, from[k], i))]);
    const auto result = f(elements);
    if (!result) return;
    known.push_back(*result);
  }
  c.out_ints(0, std::move(known));
}

Dim less_than(const Dim& a, const Dim& b) {
  if (is_never_negative(b - a - Dim(1))) return Dim(1);
  if (is_never_negative(a - b)) return Dim(0);
  return select(max(b - a, Dim(0)), Dim(1), Dim(0));
}

Dim equal_to(const Dim& a, const Dim& b) {
  if (is_never_negative(a - b - Dim(1)) || is_never_negative(b - a - Dim(1))) return Dim(0);
  return select(a - b, Dim(0), Dim(1));
}

Dim larger_dim(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return Dim(std::max(a.constant(), b.constant()));
  if (is_never_negative(a - b)) return a;
  return is_never_negative(b - a) ? b : max(a, b);
}

Dim smaller_dim(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return Dim(std::min(a.constant(), b.constant()));
  if (is_never_negative(a - b)) return b;
  return is_never_negative(b - a) ? a : min(a, b);
}

}  // namespace tw::ops
