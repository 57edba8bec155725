#include "base/dim_table.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "base/dim_function.h"

namespace tw {
namespace {

/// [first, first + count) of a list.
struct Slice {
  uint32_t first = 0, count = 0;
};
/// coefficient * the values of `factors`.
struct Product {
  int64_t coefficient = 0;
  Slice factors;
};
/// A symbol, or a function of sums that name only atoms before it.
struct AtomCode {
  Dim::Op op = Dim::Op::kSymbol;
  size_t symbol = 0;
  std::array<Slice, 3> operands;  // into the products
};

}  // namespace

struct DimTable::Body {
  std::vector<Dim> dims;
  std::vector<std::string> symbols;
  std::vector<AtomCode> atoms;
  std::vector<Slice> sums;  // by expression, into the products
  std::vector<Product> products;
  std::vector<uint32_t> factors;  // atoms

  std::optional<int64_t> sum(const Slice& slice, const std::vector<int64_t>& atom_values) const;
  std::optional<int64_t> atom(const AtomCode& code, const std::vector<int64_t>& values,
                              const std::vector<int64_t>& atom_values) const;
};

namespace {

/// Appends expressions to a table's code, their atoms first.
template <class Body>
class Coder {
 public:
  explicit Coder(Body& body) : body_(body) {}

  Slice add(const Dim& dim) {
    std::vector<Product> products;
    for (const Dim::Term& term : dim.terms()) {
      std::vector<uint32_t> factors;
      factors.reserve(term.atoms.size());
      for (const Dim::AtomRef& atom : term.atoms) factors.push_back(add(*atom));
      products.push_back({term.coefficient, append(body_.factors, factors)});
    }
    return append(body_.products, products);
  }

 private:
  uint32_t add(const Dim::Atom& atom) {
    const auto found = known_.find(atom.key);
    if (found != known_.end()) return found->second;
    AtomCode made;
    made.op = atom.op;
    made.symbol = static_cast<size_t>(
        std::find(body_.symbols.begin(), body_.symbols.end(), atom.name) - body_.symbols.begin());
    CHECK(atom.operands.size() <= made.operands.size(), "a function has at most three operands");
    for (size_t i = 0; i < atom.operands.size(); ++i) made.operands[i] = add(atom.operands[i]);
    const auto id = static_cast<uint32_t>(body_.atoms.size());
    body_.atoms.push_back(made);
    known_.emplace(atom.key, id);
    return id;
  }

  template <class T>
  static Slice append(std::vector<T>& list, const std::vector<T>& items) {
    const auto first = static_cast<uint32_t>(list.size());
    list.insert(list.end(), items.begin(), items.end());
    return {first, static_cast<uint32_t>(items.size())};
  }

  Body& body_;
  std::unordered_map<std::string_view, uint32_t> known_;  // keys live in body_.dims
};

}  // namespace

DimTable::DimTable(std::vector<Dim> dims, std::vector<std::string> symbols) {
  auto body = std::make_shared<Body>();
  body->dims = std::move(dims);
  body->symbols = std::move(symbols);
  Coder<Body> coder(*body);
  for (const Dim& dim : body->dims) {
    const Slice sum = coder.add(dim);
    body->sums.push_back(sum);
  }
  body_ = std::move(body);
}

const std::vector<Dim>& DimTable::dims() const {
  static const std::vector<Dim> none;
  return body_ ? body_->dims : none;
}

std::optional<int64_t> DimTable::Body::sum(const Slice& slice,
                                           const std::vector<int64_t>& atom_values) const {
  int64_t total = 0;
  for (uint32_t p = slice.first; p < slice.first + slice.count; ++p) {
    int64_t product = products[p].coefficient;
    const Slice& list = products[p].factors;
    for (uint32_t f = list.first; f < list.first + list.count; ++f)
      if (__builtin_mul_overflow(product, atom_values[factors[f]], &product)) return std::nullopt;
    if (__builtin_add_overflow(total, product, &total)) return std::nullopt;
  }
  return total;
}

std::optional<int64_t> DimTable::Body::atom(const AtomCode& code,
                                            const std::vector<int64_t>& values,
                                            const std::vector<int64_t>& atom_values) const {
  if (code.op == Dim::Op::kSymbol)
    return code.symbol < values.size() ? std::optional(values[code.symbol]) : std::nullopt;
  std::array<int64_t, 3> operands{};
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::optional<int64_t> value = sum(code.operands[i], atom_values);
    if (!value) return std::nullopt;
    operands[i] = *value;
  }
  return apply_function(code.op, operands);
}

Result<std::vector<int64_t>> DimTable::evaluate(const std::vector<int64_t>& values) const {
  if (!body_) return std::vector<int64_t>();
  std::vector<int64_t> atom_values, results;
  atom_values.reserve(body_->atoms.size());
  results.reserve(body_->sums.size());
  bool failed = false;
  for (const AtomCode& atom : body_->atoms) {
    const std::optional<int64_t> value = body_->atom(atom, values, atom_values);
    failed = failed || !value;
    atom_values.push_back(value.value_or(0));
  }
  for (const Slice& slice : body_->sums) {
    const std::optional<int64_t> value = body_->sum(slice, atom_values);
    failed = failed || !value;
    results.push_back(value.value_or(0));
  }
  if (!failed) return results;
  // The expression itself says what is wrong with it.
  for (const Dim& dim : body_->dims)
    TRY(dim.evaluate([&](std::string_view name) -> std::optional<int64_t> {
      for (size_t i = 0; i < body_->symbols.size(); ++i)
        if (body_->symbols[i] == name) return values[i];
      return std::nullopt;
    }));
  return error(Code::kInternal, "an expression fails in a table and not alone");
}

}  // namespace tw
