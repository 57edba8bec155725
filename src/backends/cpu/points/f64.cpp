// f64.cpp: instructions on f64: the C library, one element at a time.
#include <algorithm>
#include <cmath>

#include "backends/cpu/points/plan.h"

namespace tw::cpu {
namespace {

using task::PointInstr;
using task::PointOp;

double sigmoid(double v) {
  return v >= 0 ? 1 / (1 + std::exp(-v)) : std::exp(v) / (1 + std::exp(v));
}
double softplus(double v) { return v > 0 ? v + std::log1p(std::exp(-v)) : std::log1p(std::exp(v)); }

double modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double rectifier(const PointInstr& instr, double v) {
  const double alpha = instr.alpha, beta = instr.beta;
  switch (instr.op) {
    case PointOp::kRelu:
      return v < 0 ? 0 : v;
    case PointOp::kLeakyRelu:
      return v < 0 ? alpha * v : v;
    case PointOp::kElu:
      return v < 0 ? alpha * std::expm1(v) : v;
    case PointOp::kHardSigmoid:
      return std::clamp(alpha * v + beta, 0.0, 1.0);
    case PointOp::kHardSwish:
      return v * std::clamp(v / 6 + 0.5, 0.0, 1.0);
    case PointOp::kClip:
      return v < alpha ? alpha : v > beta ? beta : v;
    case PointOp::kMish:
      return v * std::tanh(softplus(v));
    case PointOp::kCelu:
      return v < 0 ? alpha * std::expm1(v / alpha) : v;
    case PointOp::kSelu:
      return beta * (v <= 0 ? alpha * std::expm1(v) : v);
    case PointOp::kThresholdedRelu:
      return v <= alpha ? 0 : v;
    case PointOp::kSoftplus:
      return softplus(v);
    case PointOp::kGelu:
      return v * 0.5 * (1 + std::erf(v * M_SQRT1_2));
    case PointOp::kGeluTanh:
      return v * 0.5 * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
    case PointOp::kSilu:
      return v * sigmoid(v);
    default:
      CHECK(false, "a validated program has only known instructions");
      return v;
  }
}

double unary(const PointInstr& instr, double v) {
  switch (instr.op) {
    case PointOp::kCopy:
      return v;
    case PointOp::kNeg:
      return -v;
    case PointOp::kAbs:
      return std::fabs(v);
    case PointOp::kSign:
      return v > 0 ? 1 : v < 0 ? -1 : v;
    case PointOp::kExp:
      return std::exp(v);
    case PointOp::kLog:
      return std::log(v);
    case PointOp::kSqrt:
      return std::sqrt(v);
    case PointOp::kRsqrt:
      return 1 / std::sqrt(v);
    case PointOp::kReciprocal:
      return 1 / v;
    case PointOp::kTanh:
      return std::tanh(v);
    case PointOp::kErf:
      return std::erf(v);
    case PointOp::kSigmoid:
      return sigmoid(v);
    case PointOp::kSin:
      return std::sin(v);
    case PointOp::kCos:
      return std::cos(v);
    case PointOp::kTan:
      return std::tan(v);
    case PointOp::kAsin:
      return std::asin(v);
    case PointOp::kAcos:
      return std::acos(v);
    case PointOp::kAtan:
      return std::atan(v);
    case PointOp::kSinh:
      return std::sinh(v);
    case PointOp::kCosh:
      return std::cosh(v);
    case PointOp::kAsinh:
      return std::asinh(v);
    case PointOp::kAcosh:
      return std::acosh(v);
    case PointOp::kAtanh:
      return std::atanh(v);
    case PointOp::kFloor:
      return std::floor(v);
    case PointOp::kCeil:
      return std::ceil(v);
    case PointOp::kRound:
      return std::nearbyint(v);
    case PointOp::kTrunc:
      return std::trunc(v);
    default:
      return rectifier(instr, v);
  }
}

double binary(PointOp op, double a, double b) {
  switch (op) {
    case PointOp::kAdd:
      return a + b;
    case PointOp::kSub:
      return a - b;
    case PointOp::kMul:
      return a * b;
    case PointOp::kDiv:
      return a / b;
    case PointOp::kMod:
      return modulo(a, b);
    case PointOp::kFmod:
      return std::fmod(a, b);
    case PointOp::kPow:
      return std::pow(a, b);
    case PointOp::kMin:
      return a != a || a < b ? a : b;
    default:
      return a != a || a > b ? a : b;
  }
}

/// Results of i64: comparisons and tests.
bool test(PointOp op, double a, double b) {
  switch (op) {
    case PointOp::kEqual:
      return a == b;
    case PointOp::kNotEqual:
      return a != b;
    case PointOp::kLess:
      return a < b;
    case PointOp::kLessEqual:
      return a <= b;
    case PointOp::kGreater:
      return a > b;
    case PointOp::kGreaterEqual:
      return a >= b;
    case PointOp::kIsNan:
      return std::isnan(a);
    default:
      return std::isinf(a);
  }
}

bool is_test(PointOp op) {
  return (op >= PointOp::kEqual && op <= PointOp::kGreaterEqual) || op == PointOp::kIsNan ||
         op == PointOp::kIsInf;
}

}  // namespace

void run_f64(const PointInstr& instr, const PointRegisters& r, int64_t n) {
  const auto *a = r[instr.a].as<double>(), *b = r[instr.b].as<double>();
  auto* y = r[instr.dst].as<double>();
  if (is_test(instr.op)) {
    auto* to = r[instr.dst].as<int64_t>();
    const double* second = task::arity(instr.op) == 2 ? b : a;
    for (int64_t i = 0; i < n; ++i) to[i] = test(instr.op, a[i], second[i]) ? 1 : 0;
  } else if (instr.op == PointOp::kWhere) {
    const auto* condition = r[instr.a].as<int64_t>();
    const auto* no = r[instr.c].as<double>();
    for (int64_t i = 0; i < n; ++i) y[i] = condition[i] != 0 ? b[i] : no[i];
  } else if (task::arity(instr.op) == 2) {
    for (int64_t i = 0; i < n; ++i) y[i] = binary(instr.op, a[i], b[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = unary(instr, a[i]);
  }
}

}  // namespace tw::cpu
