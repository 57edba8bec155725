// pointwise.h: the small programs that elementwise tasks run for each element, and that gemm and
// conv run on their results. A program works on virtual registers; register i < n_inputs starts as
// operand i's element. A register is a float (f32), a double (f64) or an integer (i64; bool is 0 or
// 1): floats of 16 and 8 bits are computed as f32, integers wrap to their type when stored.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"

namespace tw::task {

/// Append only: the numbers are in plan files. One line a group; float ops work lanes f32 and f64,
/// int ops i64.
enum class PointOp : uint8_t {
  // moves: copy (of the same lane), cast between lanes, literal, coordinate of the element on axis
  // `imm_int` (i64)
  kCopy,
  kCast,
  kLiteral,
  kIndex,
  // arithmetic, both lanes: integer division truncates, mod has the sign of the divisor (fmod: of
  // the dividend)
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kFmod,
  kPow,
  kMin,
  kMax,
  kNeg,
  kAbs,
  kSign,
  // comparisons (any lane, result i64 0/1) and logic on i64
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kXor,
  kNot,
  kWhere,
  kBitAnd,
  kBitOr,
  kBitXor,
  kBitNot,
  kShiftLeft,
  kShiftRight,
  // floats
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kTanh,
  kErf,
  kSigmoid,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kFloor,
  kCeil,
  kRound,
  kTrunc,
  kIsNan,
  kIsInf,
  kSoftplus,
  kGelu,
  kGeluTanh,
  kSilu,
  kRelu,
  kLeakyRelu,
  kElu,
  kHardSigmoid,
  kHardSwish,
  kClip,
  kMish,
  kCelu,
  kSelu,
  kThresholdedRelu,
};
inline constexpr int kPointOpCount = static_cast<int>(PointOp::kThresholdedRelu) + 1;

enum class Lane : uint8_t {
  kF32,
  kF64,
  kI64
};
/// The lane that elements of `dtype` are computed in.
Lane lane_of(DType dtype);

/// 16 bytes. Parameters (leaky_relu's slope, clip's bounds ...) are immediates: alpha, beta.
struct PointInstr {
  PointOp op = PointOp::kCopy;
  Lane lane = Lane::kF32;  // of the operands
  uint8_t dst = 0, a = 0, b = 0, c = 0;
  DType dtype =
      DType::kF32;  // integers: the type whose width results wrap to; kCast: the type cast to
  uint8_t reserved = 0;
  union {
    struct {
      float alpha, beta;
    };
    int64_t imm_int;
    double imm_double;  // kLiteral of a float lane
  };
  constexpr PointInstr() : imm_int(0) {}
};
static_assert(sizeof(PointInstr) == 16);

inline constexpr int kMaxPointRegisters = 32;

/// A program where it lies: in a plan's side table or in a PointProgram, which outlives this.
struct PointView {
  uint8_t n_inputs = 0;
  uint8_t n_registers = 0;
  std::span<const uint8_t> outputs;  // the registers stored, in the order of the task's outputs
  std::span<const PointInstr> code;
};

struct PointProgram {
  uint8_t n_inputs = 0;
  uint8_t n_registers = 0;
  std::vector<uint8_t> outputs;
  std::vector<PointInstr> code;
  PointView view() const { return {n_inputs, n_registers, outputs, code}; }
};

/// "n_inputs=2 out=3 ; r2 = add.f32 r0 r1 ; r3 = relu.f32 r2".
std::string to_string(const PointProgram& program);
std::string_view point_op_name(PointOp op);
/// How many register operands the op reads.
int arity(PointOp op);
/// Registers in range and written before read, known ops and lanes that agree.
Result<void> validate(const PointView& program, std::span<const Lane> input_lanes);
inline Result<void> validate(const PointProgram& program, std::span<const Lane> input_lanes) {
  return validate(program.view(), input_lanes);
}

/// The bytes of a program in a plan's side table, and back. The table stands at a multiple of eight
/// bytes in memory.
void append_bytes(const PointProgram& program, std::vector<std::byte>& side);
Result<PointView> view_point_program(std::span<const std::byte> side, uint32_t offset);
Result<PointProgram> read_point_program(std::span<const std::byte> side, uint32_t offset);

}  // namespace tw::task
