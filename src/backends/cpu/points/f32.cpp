// f32.cpp: instructions on f32, through the vector kernels where there is one.
#include <cmath>
#include <cstring>

#include "backends/cpu/points/plan.h"

namespace tw::cpu {
namespace {

using task::PointInstr;
using task::PointOp;

UnaryFn unary_kernel(const UnaryKernels& u, PointOp op) {
  switch (op) {
    case PointOp::kNeg:
      return u.neg;
    case PointOp::kAbs:
      return u.abs;
    case PointOp::kSign:
      return u.sign;
    case PointOp::kExp:
      return u.exp;
    case PointOp::kLog:
      return u.log;
    case PointOp::kSqrt:
      return u.sqrt;
    case PointOp::kRsqrt:
      return u.rsqrt;
    case PointOp::kReciprocal:
      return u.reciprocal;
    case PointOp::kTanh:
      return u.tanh;
    case PointOp::kErf:
      return u.erf;
    case PointOp::kSigmoid:
      return u.sigmoid;
    case PointOp::kSin:
      return u.sin;
    case PointOp::kCos:
      return u.cos;
    case PointOp::kFloor:
      return u.floor;
    case PointOp::kCeil:
      return u.ceil;
    case PointOp::kRound:
      return u.round_even;
    case PointOp::kTrunc:
      return u.trunc;
    case PointOp::kSoftplus:
      return u.softplus;
    case PointOp::kGelu:
      return u.gelu_erf;
    case PointOp::kGeluTanh:
      return u.gelu_tanh;
    case PointOp::kSilu:
      return u.silu;
    case PointOp::kRelu:
      return u.relu;
    case PointOp::kHardSwish:
      return u.hard_swish;
    default:
      return nullptr;
  }
}

const BinaryForms* binary_kernel(const BinaryKernels& b, PointOp op) {
  switch (op) {
    case PointOp::kAdd:
      return &b.add;
    case PointOp::kSub:
      return &b.sub;
    case PointOp::kMul:
      return &b.mul;
    case PointOp::kDiv:
      return &b.div;
    case PointOp::kMax:
      return &b.max;
    case PointOp::kMin:
      return &b.min;
    case PointOp::kPow:
      return &b.pow;
    default:
      return nullptr;
  }
}

void run_binary(const BinaryForms& forms, const PointRegister& a, const PointRegister& b, float* y,
                int64_t n) {
  if (b.uniform) return forms.vs(a.as<float>(), *b.as<float>(), y, n);
  if (a.uniform) return forms.sv(*a.as<float>(), b.as<float>(), y, n);
  forms.vv(a.as<float>(), b.as<float>(), y, n);
}

template <class F>
void map(const float* x, float* y, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
}

template <class F>
void compare(const PointRegister& a, const PointRegister& b, const PointRegister& y, int64_t n,
             F f) {
  const auto *p = a.as<float>(), *q = b.as<float>();
  auto* to = y.as<int64_t>();
  for (int64_t i = 0; i < n; ++i) to[i] = f(p[i], q[i]) ? 1 : 0;
}

/// Functions with parameters that have a kernel.
bool run_parametric(const UnaryKernels& u, const PointInstr& instr, const float* x, float* y,
                    int64_t n) {
  switch (instr.op) {
    case PointOp::kLeakyRelu:
      u.leaky_relu(x, y, n, instr.alpha);
      return true;
    case PointOp::kElu:
      u.elu(x, y, n, instr.alpha);
      return true;
    case PointOp::kHardSigmoid:
      u.hard_sigmoid(x, y, n, instr.alpha, instr.beta);
      return true;
    case PointOp::kClip:
      u.clip(x, y, n, instr.alpha, instr.beta);
      return true;
    default:
      return false;
  }
}

/// Functions without a kernel: rare, one element at a time.
void run_rare(const PointInstr& instr, const float* x, float* y, int64_t n) {
  const float alpha = instr.alpha, beta = instr.beta;
  switch (instr.op) {
    case PointOp::kTan:
      return map(x, y, n, [](float v) { return std::tan(v); });
    case PointOp::kAsin:
      return map(x, y, n, [](float v) { return std::asin(v); });
    case PointOp::kAcos:
      return map(x, y, n, [](float v) { return std::acos(v); });
    case PointOp::kAtan:
      return map(x, y, n, [](float v) { return std::atan(v); });
    case PointOp::kSinh:
      return map(x, y, n, [](float v) { return std::sinh(v); });
    case PointOp::kCosh:
      return map(x, y, n, [](float v) { return std::cosh(v); });
    case PointOp::kAsinh:
      return map(x, y, n, [](float v) { return std::asinh(v); });
    case PointOp::kAcosh:
      return map(x, y, n, [](float v) { return std::acosh(v); });
    case PointOp::kAtanh:
      return map(x, y, n, [](float v) { return std::atanh(v); });
    case PointOp::kMish:
      return map(x, y, n,
                 [](float v) { return v * std::tanh(v > 20.0F ? v : std::log1p(std::exp(v))); });
    case PointOp::kCelu:
      return map(x, y, n, [=](float v) { return v < 0.0F ? alpha * std::expm1(v / alpha) : v; });
    case PointOp::kSelu:
      return map(x, y, n, [=](float v) { return beta * (v <= 0.0F ? alpha * std::expm1(v) : v); });
    case PointOp::kThresholdedRelu:
      return map(x, y, n, [=](float v) { return v > alpha || v != v ? v : 0.0F; });
    default:
      CHECK(false, "a validated program has only known instructions");
  }
}

/// What takes two or three operands and has no kernel.
bool run_other(const PointInstr& instr, const PointRegisters& r, int64_t n) {
  const PointRegister &a = r[instr.a], &b = r[instr.b], &y = r[instr.dst];
  switch (instr.op) {
    case PointOp::kEqual:
      compare(a, b, y, n, std::equal_to<>());
      return true;
    case PointOp::kNotEqual:
      compare(a, b, y, n, std::not_equal_to<>());
      return true;
    case PointOp::kLess:
      compare(a, b, y, n, std::less<>());
      return true;
    case PointOp::kLessEqual:
      compare(a, b, y, n, std::less_equal<>());
      return true;
    case PointOp::kGreater:
      compare(a, b, y, n, std::greater<>());
      return true;
    case PointOp::kGreaterEqual:
      compare(a, b, y, n, std::greater_equal<>());
      return true;
    case PointOp::kIsNan:
      compare(a, a, y, n, [](float v, float) { return std::isnan(v); });
      return true;
    case PointOp::kIsInf:
      compare(a, a, y, n, [](float v, float) { return std::isinf(v); });
      return true;
    case PointOp::kWhere: {
      const auto* condition = a.as<int64_t>();
      const auto *yes = b.as<float>(), *no = r[instr.c].as<float>();
      auto* to = y.as<float>();
      for (int64_t i = 0; i < n; ++i) to[i] = condition[i] != 0 ? yes[i] : no[i];
      return true;
    }
    case PointOp::kMod:
    case PointOp::kFmod: {
      const auto *p = a.as<float>(), *q = b.as<float>();
      auto* to = y.as<float>();
      for (int64_t i = 0; i < n; ++i) {
        const float divisor = q[i];
        const float rest = std::fmod(p[i], divisor);
        const bool turn =
            instr.op == PointOp::kMod && rest != 0.0F && (rest < 0.0F) != (divisor < 0.0F);
        to[i] = turn ? rest + divisor : rest;
      }
      return true;
    }
    default:
      return false;
  }
}

}  // namespace

void run_f32(const Kernels& kernels, const PointInstr& instr, const PointRegisters& r, int64_t n) {
  const PointRegister &a = r[instr.a], &y = r[instr.dst];
  if (const BinaryForms* forms = binary_kernel(kernels.binary, instr.op)) {
    return run_binary(*forms, a, r[instr.b], y.as<float>(), n);
  }
  if (const UnaryFn kernel = unary_kernel(kernels.unary, instr.op)) {
    return kernel(a.as<float>(), y.as<float>(), n);
  }
  if (instr.op == PointOp::kCopy) {
    std::memmove(y.data, a.data, static_cast<size_t>(n) * sizeof(float));
    return;
  }
  if (run_parametric(kernels.unary, instr, a.as<float>(), y.as<float>(), n)) return;
  if (run_other(instr, r, n)) return;
  run_rare(instr, a.as<float>(), y.as<float>(), n);
}

}  // namespace tw::cpu
