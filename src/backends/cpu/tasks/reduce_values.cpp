#include "backends/cpu/tasks/reduce_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backends/cpu/lanes.h"

namespace tw::cpu {
namespace {

using task::ReduceTask;
using Kind = ReduceTask::Kind;

bool is_position(Kind kind) { return kind == Kind::kArgMax || kind == Kind::kArgMin; }

/// The first (or last) place of the extreme; NaN counts as the most extreme, as in numpy.
template <class T>
int64_t position(const ReduceTask& task, const T* values, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    const T a = values[i], b = values[best];
    const bool beats = task.kind == Kind::kArgMax ? a > b : a < b;
    const bool is_first_nan = a != a && b == b;
    const bool is_later_equal = task.last_index != 0 && (a == b || (a != a && b != b));
    if (is_first_nan || is_later_equal || (beats && b == b)) best = i;
  }
  return best;
}

void put_position(int64_t at, const Kernels& kernels, DType y_type, std::byte* y) {
  store_lane(kernels, y_type, &at, 1, y, 0);
}

double finish_f64(Kind kind, const double* values, int64_t n) {
  double sum = 0, product = 1;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int64_t i = 0; i < n; ++i) {
    const double v = values[i];
    if (kind == Kind::kSumSquare || kind == Kind::kL2) {
      sum += v * v;
    } else {
      sum += kind == Kind::kSumAbs ? std::fabs(v) : v;
    }
    product *= v;
    low = v != v || v < low ? v : low;
    high = v != v || v > high ? v : high;
  }
  switch (kind) {
    case Kind::kMean:
      return sum / static_cast<double>(n);
    case Kind::kMax:
      return high;
    case Kind::kMin:
      return low;
    case Kind::kProd:
      return product;
    case Kind::kL2:
      return std::sqrt(sum);
    case Kind::kLogSum:
      return std::log(sum);
    case Kind::kAny:
      return std::any_of(values, values + n, [](double v) { return v != 0; }) ? 1 : 0;
    case Kind::kAll:
      return std::all_of(values, values + n, [](double v) { return v != 0; }) ? 1 : 0;
    case Kind::kLogSumExp: {
      // Infinities stand for themselves: subtracting one from itself would give NaN.
      const double shift = std::isfinite(high) ? high : 0;
      double total = 0;
      for (int64_t i = 0; i < n; ++i) total += std::exp(values[i] - shift);
      return std::log(total) + shift;
    }
    default:
      return sum;
  }
}

/// Integers, T being int64_t or uint64_t: sums and products wrap in 64 bits, extremes are exact.
template <class T>
int64_t finish_int(Kind kind, const T* values, int64_t n) {
  uint64_t sum = 0, product = 1;
  T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::min();
  bool any = false, all = true;
  for (int64_t i = 0; i < n; ++i) {
    const T v = values[i];
    const auto bits = static_cast<uint64_t>(v);
    if (kind == Kind::kSumSquare) {
      sum += bits * bits;
    } else {
      sum += kind == Kind::kSumAbs && v < T{0} ? 0 - bits : bits;
    }
    product *= bits;
    low = std::min(low, v);
    high = std::max(high, v);
    any = any || v != 0;
    all = all && v != 0;
  }
  switch (kind) {
    case Kind::kMean:
      return n == 0 ? 0 : static_cast<int64_t>(static_cast<T>(sum) / static_cast<T>(n));
    case Kind::kMax:
      return static_cast<int64_t>(high);
    case Kind::kMin:
      return static_cast<int64_t>(low);
    case Kind::kProd:
      return static_cast<int64_t>(product);
    case Kind::kAny:
      return any ? 1 : 0;
    case Kind::kAll:
      return all ? 1 : 0;
    default:
      return static_cast<int64_t>(sum);
  }
}

/// Extremes of no elements are the ends of the stored type.
int64_t empty_extreme(Kind kind, DType dtype) {
  return with_element(dtype, [&]<class Element>(Element) {
    using Limits = std::numeric_limits<typename Element::Value>;
    return convert<int64_t>(kind == Kind::kMax ? Limits::lowest() : Limits::max());
  });
}

}  // namespace

void reduce_values(const ReduceTask& task, const Kernels& kernels, DType x_type, double* values,
                   int64_t n, DType y_type, std::byte* y) {
  (void)x_type;
  if (is_position(task.kind)) return put_position(position(task, values, n), kernels, y_type, y);
  const double result = finish_f64(task.kind, values, n);
  store_lane(kernels, y_type, &result, 1, y, 0);
}

void reduce_values(const ReduceTask& task, const Kernels& kernels, DType x_type, float* values,
                   int64_t n, DType y_type, std::byte* y) {
  (void)x_type;
  if (is_position(task.kind)) return put_position(position(task, values, n), kernels, y_type, y);
  if (task.kind == Kind::kAny || task.kind == Kind::kAll) {
    const auto set = [](float v) { return v != 0; };
    const int64_t result = task.kind == Kind::kAny ? std::any_of(values, values + n, set)
                                                   : std::all_of(values, values + n, set);
    return store_lane(kernels, y_type, &result, 1, y, 0);
  }
  // kLogSumExp, the one kind of f32 sum without a kernel of its own.
  const float high = kernels.reduce.max(values, n);
  const float shift = std::isfinite(high) ? high : 0.0F;
  kernels.binary.sub.vs(values, shift, values, n);
  kernels.unary.exp(values, values, n);
  const float result = std::log(kernels.reduce.sum(values, n)) + shift;
  store_lane(kernels, y_type, &result, 1, y, 0);
}

void reduce_values(const ReduceTask& task, const Kernels& kernels, DType x_type, int64_t* values,
                   int64_t n, DType y_type, std::byte* y) {
  const bool is_unsigned = x_type == DType::kU64;
  const auto* bits = reinterpret_cast<const uint64_t*>(values);
  int64_t result = 0;
  if (is_position(task.kind)) {
    result = is_unsigned ? position(task, bits, n) : position(task, values, n);
  } else if (n == 0 && (task.kind == Kind::kMax || task.kind == Kind::kMin)) {
    result = empty_extreme(task.kind, x_type);
  } else if (task.kind == Kind::kL2 || task.kind == Kind::kLogSum ||
             task.kind == Kind::kLogSumExp) {
    std::vector<double> floats(values, values + n);
    const double value = finish_f64(task.kind, floats.data(), n);
    return store_lane(kernels, y_type, &value, 1, y, 0);
  } else {
    result = is_unsigned ? finish_int(task.kind, bits, n) : finish_int(task.kind, values, n);
  }
  store_lane(kernels, y_type, &result, 1, y, 0);
}

}  // namespace tw::cpu
