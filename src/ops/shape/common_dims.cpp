#include "ops/shape/common_dims.h"

#include <algorithm>

namespace tw::ops {
namespace {

bool atom_is_nonnegative(const Dim::Atom& atom) {
  const auto& v = atom.operands;
  switch (atom.op) {
    case Dim::Op::kSymbol:
      return true;
    case Dim::Op::kFloorDiv:
      return is_nonnegative(v[0]) && is_nonnegative(v[1]);
    case Dim::Op::kMod:
      return is_nonnegative(v[1]);  // the remainder has the divisor's sign
    case Dim::Op::kMin:
      return is_nonnegative(v[0]) && is_nonnegative(v[1]);
    case Dim::Op::kMax:
      return is_nonnegative(v[0]) || is_nonnegative(v[1]);
    case Dim::Op::kSelect:
      return is_nonnegative(v[1]) && is_nonnegative(v[2]);
  }
  return false;
}

/// Either operand of max() is a lower bound of it, and either operand of -min() one of that.
bool bounds_from_below(const Dim::Term& term) {
  if (term.atoms.size() != 1) return false;
  const Dim::Op op = term.atoms[0]->op;
  return (op == Dim::Op::kMax && term.coefficient > 0) ||
         (op == Dim::Op::kMin && term.coefficient < 0);
}

bool is_nonnegative_within(const Dim& dim, int depth) {
  if (const auto known = dim.known()) return *known >= 0;
  const Dim::Poly terms = dim.terms();
  const bool each = std::all_of(terms.begin(), terms.end(), [](const Dim::Term& term) {
    return term.coefficient >= 0 &&
           std::all_of(term.atoms.begin(), term.atoms.end(),
                       [](const auto& atom) { return atom_is_nonnegative(*atom); });
  });
  if (each) return true;
  if (depth == 0) return false;
  for (const Dim::Term& term : terms) {
    if (!bounds_from_below(term)) continue;
    const Dim others = dim - from_terms({term});
    for (const Dim& bound : term.atoms[0]->operands)
      if (is_nonnegative_within(others + Dim(term.coefficient) * bound, depth - 1)) return true;
  }
  return false;
}

}  // namespace

bool is_nonnegative(const Dim& dim) {
  constexpr int kMaxDepth = 3;  // nested min and max that are worth a look
  return is_nonnegative_within(dim, kMaxDepth);
}

Dim tight_min(const Dim& a, const Dim& b) {
  if (is_nonnegative(b - a)) return a;
  return is_nonnegative(a - b) ? b : min(a, b);
}

Dim tight_max(const Dim& a, const Dim& b) {
  if (is_nonnegative(a - b)) return a;
  return is_nonnegative(b - a) ? b : max(a, b);
}

Dim at_least_zero(const Dim& dim) { return tight_max(dim, Dim(0)); }

Dim wrap_negative(const Dim& dim, const Dim& when_negative) {
  if (const auto known = dim.known()) return *known < 0 ? dim + when_negative : dim;
  if (is_nonnegative(dim)) return dim;
  return select(max(Dim(0) - dim, Dim(0)), dim + when_negative, dim);
}

Result<Dim> same_dim(const Dim& a, const Dim& b, std::string_view what) {
  if (a == b) return a;
  if (a.is_constant() && b.is_constant())
    return error(Code::kInvalidModel, what, " is ", b, ", expected ", a);
  return a.is_constant() ? a : b.is_constant() ? b : a;
}

std::string dims_text(const ir::Shape& shape) { return cat("[", join(shape, ","), "]"); }

}  // namespace tw::ops
