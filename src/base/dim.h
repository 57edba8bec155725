// dim.h: an integer known as a number or as an expression over input symbols. The graph's shapes
// are made of these, and a parametric program's patch table evaluates them. Expressions are kept as
// polynomials in a canonical order, so that two that are equal by algebra compare equal:
// (B*S*384)/384 == S*B.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tw {

class Dim {
 public:
  Dim(int64_t value = 0) : constant_(value) {}  // NOLINT(google-explicit-constructor)
  static Dim symbol(std::string_view name);

  bool is_constant() const { return poly_ == nullptr; }
  /// The number; only when is_constant().
  int64_t constant() const;
  std::optional<int64_t> known() const {
    return is_constant() ? std::optional(constant_) : std::nullopt;
  }
  /// The name when the expression is one bare symbol.
  std::optional<std::string> as_symbol() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  /// Equal by algebra. "Not equal" means "not known to be equal".
  friend bool operator==(const Dim& a, const Dim& b);

  /// The value when each symbol stands for `value_of(name)`. Fails on a missing symbol or a
  /// division by zero.
  Result<int64_t> evaluate(
      const std::function<std::optional<int64_t>(std::string_view)>& value_of) const;
  /// Calls `visit` with every symbol's name, in a fixed order, possibly more than once.
  void for_each_symbol(const std::function<void(const std::string&)>& visit) const;
  /// The same expression with each symbol replaced by `replace(name)`.
  Dim substitute(const std::function<Dim(const std::string&)>& replace) const;

  enum class Op : uint8_t {
    kSymbol,
    kFloorDiv,
    kMod,
    kMin,
    kMax,
    kSelect
  };
  struct Atom;  // a symbol or a function of Dims
  using AtomRef = std::shared_ptr<const Atom>;
  struct Term {  // coefficient * atoms[0] * atoms[1] ...
    int64_t coefficient;
    std::vector<AtomRef> atoms;  // ordered by key, repeats allowed
  };
  using Poly = std::vector<Term>;  // ordered by the terms' keys, no equal keys, no zero coefficient

  /// The terms of the sum; a single constant term for a number. For code that turns an expression
  /// into another form.
  Poly terms() const;
  friend Dim from_terms(Poly terms);

 private:
  int64_t constant_ = 0;
  std::shared_ptr<const Poly> poly_;
};

struct Dim::Atom {
  Op op;
  std::string name;  // kSymbol
  std::vector<Dim> operands;
  std::string key;  // text; equal atoms have equal keys
};

/// The canonical form of a sum of terms in any order.
Dim from_terms(Dim::Poly terms);

/// Rounds towards minus infinity. ceil_div(a, b) is floor_div(a + b - 1, b).
Dim floor_div(const Dim& a, const Dim& b);
Dim ceil_div(const Dim& a, const Dim& b);
/// a - b * floor_div(a, b).
Dim mod(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
/// `then` where `condition` is not 0, else `otherwise`.
Dim select(const Dim& condition, const Dim& then, const Dim& otherwise);

/// "4", "batch", "2*batch*seq + 1", "floor_div(h + 1, 2)".
std::string to_string(const Dim& dim);
/// Reads what to_string writes (and ordinary spellings of the same grammar).
Result<Dim> parse_dim(std::string_view text);

int64_t floor_div(int64_t a, int64_t b);

}  // namespace tw
