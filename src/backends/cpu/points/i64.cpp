// i64.cpp: instructions on integers and bools, and casts. Results wrap to the instruction's
// type; arithmetic is done on uint64_t, where C++ lets it wrap.
#include <algorithm>
#include <cmath>

#include "backends/cpu/lanes.h"
#include "backends/cpu/points/plan.h"

namespace tw::cpu {
namespace {

using task::PointInstr;
using task::PointOp;

int64_t wrap(DType dtype, int64_t value) {
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

int64_t wide(uint64_t value) { return static_cast<int64_t>(value); }
uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

/// a / b truncated; 0 for a divisor of 0, and the one overflow wraps.
template <class T>
int64_t divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return wide(0 - bits(a));
  }
  return static_cast<int64_t>(a / b);
}

template <class T>
int64_t remainder(T a, T b, bool sign_of_divisor) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  const T rest = static_cast<T>(a % b);
  const bool turn = sign_of_divisor && rest != 0 && (rest < 0) != (b < 0);
  return static_cast<int64_t>(turn ? rest + b : rest);
}

int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, square = bits(base);
  for (auto e = bits(exponent); e != 0; e >>= 1U) {
    if ((e & 1U) != 0) result *= square;
    square *= square;
  }
  return wide(result);
}

/// Operations whose answer depends on how the top bit is read.
template <class T>
int64_t ordered(PointOp op, T a, T b) {
  switch (op) {
    case PointOp::kDiv:
      return divide(a, b);
    case PointOp::kMod:
      return remainder(a, b, true);
    case PointOp::kFmod:
      return remainder(a, b, false);
    case PointOp::kMin:
      return static_cast<int64_t>(std::min(a, b));
    case PointOp::kMax:
      return static_cast<int64_t>(std::max(a, b));
    case PointOp::kLess:
      return a < b ? 1 : 0;
    case PointOp::kLessEqual:
      return a <= b ? 1 : 0;
    case PointOp::kGreater:
      return a > b ? 1 : 0;
    case PointOp::kGreaterEqual:
      return a >= b ? 1 : 0;
    default:
      return b < T{64} ? static_cast<int64_t>(a >> b) : 0;  // kShiftRight
  }
}

int64_t binary(PointOp op, bool is_unsigned, int64_t a, int64_t b) {
  switch (op) {
    case PointOp::kAdd:
      return wide(bits(a) + bits(b));
    case PointOp::kSub:
      return wide(bits(a) - bits(b));
    case PointOp::kMul:
      return wide(bits(a) * bits(b));
    case PointOp::kPow:
      return power(a, b);
    case PointOp::kEqual:
      return a == b ? 1 : 0;
    case PointOp::kNotEqual:
      return a != b ? 1 : 0;
    case PointOp::kAnd:
      return a != 0 && b != 0 ? 1 : 0;
    case PointOp::kOr:
      return a != 0 || b != 0 ? 1 : 0;
    case PointOp::kXor:
      return (a != 0) != (b != 0) ? 1 : 0;
    case PointOp::kBitAnd:
      return a & b;
    case PointOp::kBitOr:
      return a | b;
    case PointOp::kBitXor:
      return a ^ b;
    case PointOp::kShiftLeft:
      return bits(b) < 64 ? wide(bits(a) << bits(b)) : 0;
    default:
      break;
  }
  if (is_unsigned) return ordered(op, bits(a), bits(b));
  return op == PointOp::kShiftRight ? (bits(b) < 64 ? a >> b : 0) : ordered(op, a, b);
}

int64_t unary(const PointInstr& instr, bool is_unsigned, int64_t v) {
  switch (instr.op) {
    case PointOp::kCopy:
      return v;
    case PointOp::kNeg:
      return wide(0 - bits(v));
    case PointOp::kAbs:
      return v < 0 && !is_unsigned ? wide(0 - bits(v)) : v;
    case PointOp::kSign:
      return is_unsigned ? (v != 0 ? 1 : 0) : (v > 0 ? 1 : 0) - (v < 0 ? 1 : 0);
    case PointOp::kNot:
      return v == 0 ? 1 : 0;
    case PointOp::kBitNot:
      return ~v;
    case PointOp::kRelu:
      return is_unsigned ? v : std::max<int64_t>(v, 0);
    case PointOp::kClip: {
      const auto low = saturate<int64_t>(std::ceil(instr.alpha));
      const auto high = saturate<int64_t>(std::floor(instr.beta));
      return std::min(std::max(v, low), high);
    }
    case PointOp::kIsNan:
    case PointOp::kIsInf:
      return 0;
    default:
      return v;  // floor, ceil, round and trunc leave integers as they are
  }
}

bool gives_bool(PointOp op) { return op >= PointOp::kEqual && op <= PointOp::kNot; }

}  // namespace

void run_i64(const PointInstr& instr, DType operand_type, const PointRegisters& r, int64_t n) {
  const auto *a = r[instr.a].as<int64_t>(), *b = r[instr.b].as<int64_t>();
  auto* y = r[instr.dst].as<int64_t>();
  const bool is_unsigned = operand_type == DType::kU64;
  if (instr.op == PointOp::kWhere) {
    const auto* no = r[instr.c].as<int64_t>();
    for (int64_t i = 0; i < n; ++i) y[i] = a[i] != 0 ? b[i] : no[i];
    return;
  }
  if (task::arity(instr.op) == 2) {
    for (int64_t i = 0; i < n; ++i) y[i] = binary(instr.op, is_unsigned, a[i], b[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = unary(instr, is_unsigned, a[i]);
  }
  // A float type stands for "not said": the full 64 bits.
  if (gives_bool(instr.op) || is_float(instr.dtype)) return;
  for (int64_t i = 0; i < n; ++i) y[i] = wrap(instr.dtype, y[i]);
}

template <class From>
void run_cast(const PointInstr& instr, DType operand_type, const PointRegisters& r, int64_t n) {
  const From* a = r[instr.a].as<From>();
  with_element(instr.dtype, [&]<class Element>(Element) {
    using Value = typename Element::Value;
    using Lane =
        std::conditional_t<std::is_same_v<Value, double>, double,
                           std::conditional_t<std::is_floating_point_v<Value>, float, int64_t>>;
    auto* y = r[instr.dst].as<Lane>();
    const auto store = [](auto value) {
      return static_cast<Lane>(Element::get(Element::put(convert<Value>(value))));
    };
    if (std::is_same_v<From, int64_t> && operand_type == DType::kU64) {
      for (int64_t i = 0; i < n; ++i) y[i] = store(static_cast<uint64_t>(a[i]));
    } else {
      for (int64_t i = 0; i < n; ++i) y[i] = store(a[i]);
    }
  });
}

template void run_cast<float>(const PointInstr&, DType, const PointRegisters&, int64_t);
template void run_cast<double>(const PointInstr&, DType, const PointRegisters&, int64_t);
template void run_cast<int64_t>(const PointInstr&, DType, const PointRegisters&, int64_t);

}  // namespace tw::cpu
