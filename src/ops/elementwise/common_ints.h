// common_ints.h: shape arithmetic. Where an integer op's inputs are known as numbers or expressions
// over symbols, so are its outputs; that is how Shape -> Gather -> Mul -> Reshape folds while batch
// and length are still open.
#pragma once

#include "ops/elementwise/common_map.h"

namespace tw::ops {

/// True when no values of the symbols (sizes, so never negative) make `dim` negative.
bool is_never_negative(const Dim& dim);

/// `value` as it reads back from a tensor of `dtype`.
int64_t wrap_int(DType dtype, int64_t value);

/// Sets output 0's known integers to f(one element of each input), element by element with
/// broadcasting, when all inputs are known and f (std::span<const Dim> -> std::optional<Dim>) knows
/// every element. Output 0 has its type already.
void propagate_ints(ir::InferContext& c,
                    const std::function<std::optional<Dim>(std::span<const Dim>)>& f);

/// infer hook of a binary op: as infer_broadcast; known numbers go through kNumber (wrapped to the
/// type), expressions through kDim (Dim, Dim) -> std::optional<Dim>. The output's dtype is bool
/// when kIsPredicate.
template <TypeSet kAllowed, auto kNumber, auto kDim, bool kIsPredicate = false>
Result<void> infer_int_binary(ir::InferContext& c) {
  TRY(infer_broadcast<kAllowed>(c));
  const DType from = c.in(0).dtype;
  const DType to = kIsPredicate ? DType::kBool : from;
  c.out(0, {to, c.outputs()[0].type.shape});
  propagate_ints(c, [&](std::span<const Dim> x) -> std::optional<Dim> {
    if (!x[0].is_constant() || !x[1].is_constant()) return kDim(x[0], x[1]);
    const int64_t a = x[0].constant();
    const int64_t b = x[1].constant();
    const auto value =
        is_signed_int(from)
            ? static_cast<int64_t>(kNumber(a, b))
            : static_cast<int64_t>(kNumber(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    return Dim(wrap_int(to, value));
  });
  return {};
}

/// infer hook of a comparison: equal dtypes, bool output.
template <TypeSet kAllowed, auto kNumber, auto kDim>
Result<void> infer_comparison(ir::InferContext& c) {
  return infer_int_binary<kAllowed, kNumber, kDim, true>(c);
}

/// 1 where a < b, else 0; a number where the signs of sizes settle it.
Dim less_than(const Dim& a, const Dim& b);
/// 1 where a == b, else 0; a number where the signs of sizes settle it (no size equals -1).
Dim equal_to(const Dim& a, const Dim& b);
/// max(a, b) and min(a, b), one of them where the signs of sizes settle it.
Dim larger_dim(const Dim& a, const Dim& b);
Dim smaller_dim(const Dim& a, const Dim& b);

/// infer hook of max and min: known numbers go through kFold (Dim, Dim) -> Dim.
template <auto kFold>
Result<void> infer_extremum(ir::InferContext& c) {
  TRY(infer_broadcast<kNumbers>(c));
  const bool fits = c.in(0).dtype != DType::kU64;  // a Dim cannot hold the upper half of u64
  propagate_ints(c, [fits](std::span<const Dim> x) -> std::optional<Dim> {
    if (!fits) return std::nullopt;
    Dim value = x[0];
    for (size_t i = 1; i < x.size(); ++i) value = kFold(value, x[i]);
    return value;
  });
  return {};
}

}  // namespace tw::ops
