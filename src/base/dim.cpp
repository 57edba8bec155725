// A Dim is a number or a sum of terms. Simplification happens where a node is made, so equality is
// comparison of keys.
#include "base/dim.h"

#include <algorithm>
#include <map>

#include "base/dim_function.h"

namespace tw {
namespace {

/// Sizes in files may be anything: sums and products wrap, as unsigned numbers do. evaluate() is
/// exact and refuses.
int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrapping_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

std::string key_of(const Dim::Term& term) {
  std::string key;
  for (const auto& atom : term.atoms) key += atom->key + "*";
  return key;
}

Dim make_function(Dim::Op op, std::string_view name, std::vector<Dim> operands) {
  auto atom = std::make_shared<Dim::Atom>();
  atom->op = op;
  atom->key = cat(name, "(", join(operands, ", "), ")");
  atom->operands = std::move(operands);
  return from_terms({{1, {std::move(atom)}}});
}

/// term / divisor when it is exact for every value of the symbols.
std::optional<Dim::Term> exact_quotient(Dim::Term term, const Dim::Term& divisor) {
  if (divisor.coefficient == 0) return std::nullopt;
  if (divisor.coefficient != -1 && term.coefficient % divisor.coefficient != 0) return std::nullopt;
  term.coefficient = floor_div(term.coefficient, divisor.coefficient);
  for (const auto& atom : divisor.atoms) {
    const auto found = std::find_if(term.atoms.begin(), term.atoms.end(),
                                    [&](const auto& a) { return a->key == atom->key; });
    if (found == term.atoms.end()) return std::nullopt;
    term.atoms.erase(found);
  }
  return term;
}

Result<int64_t> evaluate_atom(
    const Dim::Atom& atom,
    const std::function<std::optional<int64_t>(std::string_view)>& value_of) {
  if (atom.op == Dim::Op::kSymbol) {
    const auto value = value_of(atom.name);
    if (!value) return error(Code::kInvalidArgument, "no value for symbol '", atom.name, "'");
    return *value;
  }
  std::array<int64_t, 3> operands{};
  for (size_t i = 0; i < atom.operands.size(); ++i)
    operands[i] = TRY(atom.operands[i].evaluate(value_of));
  if (const auto value = apply_function(atom.op, operands)) return *value;
  return error(Code::kInvalidArgument, "division by zero in ", atom.key);
}

Dim substitute_atom(const Dim::AtomRef& atom,
                    const std::function<Dim(const std::string&)>& replace) {
  if (atom->op == Dim::Op::kSymbol) return replace(atom->name);
  std::vector<Dim> v;
  for (const Dim& operand : atom->operands) v.push_back(operand.substitute(replace));
  switch (atom->op) {
    case Dim::Op::kFloorDiv:
      return floor_div(v[0], v[1]);
    case Dim::Op::kMod:
      return mod(v[0], v[1]);
    case Dim::Op::kMin:
      return min(v[0], v[1]);
    case Dim::Op::kMax:
      return max(v[0], v[1]);
    default:
      return select(v[0], v[1], v[2]);
  }
}

}  // namespace

int64_t floor_div(int64_t a, int64_t b) {
  if (b == -1) return wrapping_mul(a, -1);
  const int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

std::optional<int64_t> apply_function(Dim::Op op, const std::array<int64_t, 3>& v) {
  switch (op) {
    case Dim::Op::kFloorDiv:
      return v[1] == 0 ? std::nullopt : std::optional(floor_div(v[0], v[1]));
    case Dim::Op::kMod:
      if (v[1] == 0) return std::nullopt;
      return wrapping_add(v[0], wrapping_mul(-1, wrapping_mul(v[1], floor_div(v[0], v[1]))));
    case Dim::Op::kMin:
      return std::min(v[0], v[1]);
    case Dim::Op::kMax:
      return std::max(v[0], v[1]);
    case Dim::Op::kSelect:
      return v[0] != 0 ? v[1] : v[2];
    case Dim::Op::kSymbol:
      break;
  }
  CHECK(false, "a symbol is no function");
  return std::nullopt;
}

Dim from_terms(Dim::Poly terms) {
  std::map<std::string, Dim::Term> merged;
  for (auto& term : terms) {
    std::sort(term.atoms.begin(), term.atoms.end(),
              [](const auto& a, const auto& b) { return a->key < b->key; });
    std::string key = key_of(term);
    const auto [it, inserted] = merged.try_emplace(std::move(key), term);
    if (!inserted) it->second.coefficient = wrapping_add(it->second.coefficient, term.coefficient);
  }
  auto poly = std::make_shared<Dim::Poly>();
  for (auto& [key, term] : merged)
    if (term.coefficient != 0) poly->push_back(std::move(term));
  if (poly->empty()) return Dim(0);
  if (poly->size() == 1 && poly->front().atoms.empty()) return Dim(poly->front().coefficient);
  Dim dim;
  dim.poly_ = std::move(poly);
  return dim;
}

Dim Dim::symbol(std::string_view name) {
  auto atom = std::make_shared<Atom>();
  atom->op = Op::kSymbol;
  atom->name = name;
  atom->key = name;
  return from_terms({{1, {std::move(atom)}}});
}

int64_t Dim::constant() const {
  CHECK(is_constant(), "constant() is for numbers only");
  return constant_;
}

std::optional<std::string> Dim::as_symbol() const {
  if (is_constant() || poly_->size() != 1) return std::nullopt;
  const Term& term = poly_->front();
  if (term.coefficient != 1 || term.atoms.size() != 1 || term.atoms[0]->op != Op::kSymbol)
    return std::nullopt;
  return term.atoms[0]->name;
}

Dim::Poly Dim::terms() const {
  if (is_constant()) return {{constant_, {}}};
  return *poly_;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return Dim(wrapping_add(a.constant_, b.constant_));
  Dim::Poly sum = a.terms();
  for (auto& term : b.terms()) sum.push_back(term);
  return from_terms(std::move(sum));
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return Dim(wrapping_mul(a.constant_, b.constant_));
  Dim::Poly product;
  for (const auto& x : a.terms())
    for (const auto& y : b.terms()) {
      Dim::Term term{wrapping_mul(x.coefficient, y.coefficient), x.atoms};
      term.atoms.insert(term.atoms.end(), y.atoms.begin(), y.atoms.end());
      product.push_back(std::move(term));
    }
  return from_terms(std::move(product));
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.is_constant() != b.is_constant()) return false;
  if (a.is_constant()) return a.constant_ == b.constant_;
  return std::equal(a.poly_->begin(), a.poly_->end(), b.poly_->begin(), b.poly_->end(),
                    [](const Dim::Term& x, const Dim::Term& y) {
                      return x.coefficient == y.coefficient && key_of(x) == key_of(y);
                    });
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant() && b.constant() != 0)
    return Dim(floor_div(a.constant(), b.constant()));
  if (b == Dim(1)) return a;
  const Dim::Poly divisor = b.terms();
  if (divisor.size() == 1 && divisor[0].coefficient != 0) {
    Dim::Poly quotient;
    Dim::Poly rest;  // what does not divide; with a constant divisor the exact part may still leave
                     // the division
    for (const auto& term : a.terms()) {
      if (auto exact = exact_quotient(term, divisor[0]))
        quotient.push_back(std::move(*exact));
      else
        rest.push_back(term);
    }
    if (rest.empty()) return from_terms(std::move(quotient));
    if (!quotient.empty() && b.is_constant())
      return from_terms(std::move(quotient)) + floor_div(from_terms(std::move(rest)), b);
  }
  return a == b ? Dim(1) : make_function(Dim::Op::kFloorDiv, "floor_div", {a, b});
}

Dim ceil_div(const Dim& a, const Dim& b) { return floor_div(a + b - Dim(1), b); }

Dim mod(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant() && b.constant() != 0)
    return a - b * Dim(floor_div(a.constant(), b.constant()));
  if (a - b * floor_div(a, b) == Dim(0)) return Dim(0);
  return make_function(Dim::Op::kMod, "mod", {a, b});
}

Dim min(const Dim& a, const Dim& b) {
  if (const auto gap = (a - b).known()) return *gap <= 0 ? a : b;
  return make_function(Dim::Op::kMin, "min", {a, b});
}

Dim max(const Dim& a, const Dim& b) {
  if (const auto gap = (a - b).known()) return *gap >= 0 ? a : b;
  return make_function(Dim::Op::kMax, "max", {a, b});
}

Dim select(const Dim& condition, const Dim& then, const Dim& otherwise) {
  if (const auto known = condition.known()) return *known != 0 ? then : otherwise;
  if (then == otherwise) return then;
  return make_function(Dim::Op::kSelect, "select", {condition, then, otherwise});
}

Result<int64_t> Dim::evaluate(
    const std::function<std::optional<int64_t>(std::string_view)>& value_of) const {
  if (is_constant()) return constant_;
  int64_t sum = 0;
  for (const Term& term : *poly_) {
    int64_t product = term.coefficient;
    for (const auto& atom : term.atoms) {
      const int64_t factor = TRY(evaluate_atom(*atom, value_of));
      if (__builtin_mul_overflow(product, factor, &product))
        return error(Code::kInvalidArgument, "the expression ", *this, " passes 2^63");
    }
    if (__builtin_add_overflow(sum, product, &sum))
      return error(Code::kInvalidArgument, "the expression ", *this, " passes 2^63");
  }
  return sum;
}

void Dim::for_each_symbol(const std::function<void(const std::string&)>& visit) const {
  if (is_constant()) return;
  for (const Term& term : *poly_)
    for (const auto& atom : term.atoms) {
      if (atom->op == Op::kSymbol) visit(atom->name);
      for (const Dim& operand : atom->operands) operand.for_each_symbol(visit);
    }
}

Dim Dim::substitute(const std::function<Dim(const std::string&)>& replace) const {
  if (is_constant()) return *this;
  Dim sum(0);
  for (const Term& term : *poly_) {
    Dim product(term.coefficient);
    for (const auto& atom : term.atoms) product = product * substitute_atom(atom, replace);
    sum = sum + product;
  }
  return sum;
}

std::string to_string(const Dim& dim) {
  std::string text;
  for (const auto& term : dim.terms()) {
    const bool negative = term.coefficient < 0;
    if (text.empty())
      text += negative ? "-" : "";
    else
      text += negative ? " - " : " + ";
    const auto bits = static_cast<uint64_t>(term.coefficient);
    const uint64_t magnitude = negative ? 0 - bits : bits;
    std::string factors;
    if (magnitude != 1 || term.atoms.empty()) factors = cat(magnitude);
    for (const auto& atom : term.atoms) factors += cat(factors.empty() ? "" : "*", atom->key);
    text += factors;
  }
  return text;
}

}  // namespace tw
