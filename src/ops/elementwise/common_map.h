// common_map.h: reference hooks of elementwise ops: a function of one element applied to all.
// Floats are computed in double and rounded once, integers exactly in 64 bits and wrapped when
// stored.
#pragma once

#include <limits>
#include <type_traits>

#include "ops/elementwise/common_types.h"

namespace tw::ops {

/// Calls visit(T{}) with the type that elements of `dtype` are computed in: double, int64_t, or
/// uint64_t (unsigned, bool).
template <class Visit>
auto with_number_type(DType dtype, Visit&& visit) {
  if (is_float(dtype)) return visit(double{});
  if (is_signed_int(dtype)) return visit(int64_t{});
  return visit(uint64_t{});
}

template <class T>
T read_number(const Tensor& tensor, int64_t i) {
  if constexpr (std::is_floating_point_v<T>)
    return tensor.float_at(i);
  else
    return static_cast<T>(tensor.int_at(i));
}

template <class T>
void write_number(Tensor& tensor, int64_t i, T value) {
  if constexpr (std::is_floating_point_v<T>)
    tensor.set_float(i, value);
  else
    tensor.set_int(i, static_cast<int64_t>(value));
}

/// y[i] = kFunction(x[i]) for a function of one number of any type.
template <auto kFunction>
Result<void> map_unary(ir::EvalContext& c) {
  with_number_type(c.in(0).dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < c.in(0).count(); ++i)
      write_number(c.out(0), i, kFunction(read_number<T>(c.in(0), i)));
  });
  return {};
}

/// The same for a function of the bits of integers and bools, as uint64_t.
template <auto kFunction>
Result<void> map_unary_bits(ir::EvalContext& c) {
  for (int64_t i = 0; i < c.in(0).count(); ++i)
    write_number(c.out(0), i, kFunction(read_number<uint64_t>(c.in(0), i)));
  return {};
}

/// y[i] = function(x[i]) for a function of a double that depends on attributes.
template <class Function>
Result<void> map_with(ir::EvalContext& c, const Function& function) {
  for (int64_t i = 0; i < c.in(0).count(); ++i)
    write_number(c.out(0), i, function(c.in(0).float_at(i)));
  return {};
}

/// y[i] = kFunction(x[i]) for a function of a double.
template <auto kFunction>
Result<void> map_float(ir::EvalContext& c) {
  return map_with(c, kFunction);
}

/// y[i] = kFunction(a[i], b[i]) with a and b broadcast; both are of a's type.
template <auto kFunction>
Result<void> map_binary(ir::EvalContext& c) {
  const Dims to = c.out(0).dims();
  with_number_type(c.in(0).dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < c.out(0).count(); ++i) {
      const T a = read_number<T>(c.in(0), broadcast_index(to, c.in(0).dims(), i));
      const T b = read_number<T>(c.in(1), broadcast_index(to, c.in(1).dims(), i));
      write_number(c.out(0), i, kFunction(a, b));
    }
  });
  return {};
}

/// The same for a function of the bits of integers and bools, as uint64_t.
template <auto kFunction>
Result<void> map_binary_bits(ir::EvalContext& c) {
  const Dims to = c.out(0).dims();
  for (int64_t i = 0; i < c.out(0).count(); ++i) {
    const auto a = read_number<uint64_t>(c.in(0), broadcast_index(to, c.in(0).dims(), i));
    const auto b = read_number<uint64_t>(c.in(1), broadcast_index(to, c.in(1).dims(), i));
    write_number(c.out(0), i, kFunction(a, b));
  }
  return {};
}

/// y[i] = kFunction(...kFunction(x0[i], x1[i]), ... xn[i]) with all inputs broadcast.
template <auto kFunction>
Result<void> map_variadic(ir::EvalContext& c) {
  const Dims to = c.out(0).dims();
  with_number_type(c.in(0).dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < c.out(0).count(); ++i) {
      T value = read_number<T>(c.in(0), broadcast_index(to, c.in(0).dims(), i));
      for (size_t k = 1; k < c.n_inputs(); ++k)
        value = kFunction(value, read_number<T>(c.in(k), broadcast_index(to, c.in(k).dims(), i)));
      write_number(c.out(0), i, value);
    }
  });
  return {};
}

// Arithmetic without undefined cases: integers wrap, and a division by zero gives 0.

template <class T>
T add_numbers(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

template <class T>
T subtract_numbers(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

template <class T>
T multiply_numbers(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// Integers round towards zero.
template <class T>
T divide_numbers(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a / b;
  if (b == T{0}) return T{0};
  if (std::is_signed_v<T> && b == static_cast<T>(-1))
    return subtract_numbers(T{0}, a);  // the smallest integer wraps
  return static_cast<T>(a / b);
}

/// numpy's maximum and minimum: NaN when either is NaN.
template <class T>
T larger_number(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
T smaller_number(T a, T b) {
  return a < b || a != a ? a : b;
}

}  // namespace tw::ops
