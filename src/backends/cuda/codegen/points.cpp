#include "backends/cuda/codegen/points.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "backends/cuda/launch.h"

namespace tw::cuda {
namespace {

using task::Lane;
using task::PointInstr;
using task::PointOp;

bool between(PointOp op, PointOp first, PointOp last) { return op >= first && op <= last; }
bool is_comparison(PointOp op) {
  return between(op, PointOp::kEqual, PointOp::kGreaterEqual) || op == PointOp::kIsNan ||
         op == PointOp::kIsInf;
}
bool is_logic(PointOp op) { return between(op, PointOp::kAnd, PointOp::kNot); }
bool is_bitwise(PointOp op) { return between(op, PointOp::kBitAnd, PointOp::kShiftRight); }

Lane result_lane(const PointInstr& instr) {
  if (instr.op == PointOp::kCast) return task::lane_of(instr.dtype);
  const bool integer = instr.op == PointOp::kIndex || is_comparison(instr.op) || is_logic(instr.op);
  return integer ? Lane::kI64 : instr.lane;
}

/// Operations on integers whose answer depends on how the top bit of a u64 is read.
bool reads_sign(PointOp op) {
  return op == PointOp::kDiv || op == PointOp::kMod || op == PointOp::kFmod ||
         op == PointOp::kMin || op == PointOp::kMax || op == PointOp::kAbs ||
         op == PointOp::kSign || op == PointOp::kRelu || op == PointOp::kShiftRight ||
         op == PointOp::kCast || between(op, PointOp::kLess, PointOp::kGreaterEqual);
}

/// Functions of one float that leave integers as they are.
bool keeps_integers(PointOp op) {
  return op >= PointOp::kExp && !is_comparison(op) && op != PointOp::kRelu && op != PointOp::kClip;
}

/// How many of alpha and beta the operation takes.
int n_parameters(PointOp op) {
  switch (op) {
    case PointOp::kLeakyRelu:
    case PointOp::kElu:
    case PointOp::kCelu:
    case PointOp::kThresholdedRelu:
      return 1;
    case PointOp::kHardSigmoid:
    case PointOp::kClip:
    case PointOp::kSelu:
      return 2;
    default:
      return 0;
  }
}

// Literals go by their bits: exact, and NaN and infinities need no case of their own.
std::string literal(float value) {
  return cat("__uint_as_float(", std::bit_cast<uint32_t>(value), "u)");
}
std::string literal(double value) {
  return cat("__longlong_as_double(static_cast<int64_t>(", std::bit_cast<uint64_t>(value), "ull))");
}
std::string literal(int64_t value) {
  return cat("static_cast<int64_t>(", static_cast<uint64_t>(value), "ull)");
}

/// A bound of an integer clip: rounded already, NaN is 0, what lies outside is the end.
int64_t integer_bound(float value) {
  constexpr auto kEnds = std::numeric_limits<int64_t>();
  if (std::isnan(value)) return 0;
  if (value >= static_cast<float>(kEnds.max())) return kEnds.max();
  return value <= static_cast<float>(kEnds.min()) ? kEnds.min() : static_cast<int64_t>(value);
}

/// What a register holds: the name of the variable last assigned to it, and its type. A float type
/// says the lane; of integers it tells u64 from the rest.
struct Value {
  std::string name;
  Lane lane = Lane::kF32;
  DType type = DType::kF32;
};

/// Writes the body of a function, one constant a program's instruction.
class Writer {
 public:
  explicit Writer(std::span<const DType> input_types) {
    for (size_t i = 0; i < input_types.size(); ++i)
      values_[i] = {cat("r", i), task::lane_of(input_types[i]), input_types[i]};
  }

  Result<void> add(size_t number, const PointInstr& instr) {
    const bool has_operand = task::arity(instr.op) > 0;
    // The condition of `where` is its first operand; its values are the second and third.
    const uint8_t typed = instr.op == PointOp::kWhere ? instr.b : instr.a;
    const DType operand_type = has_operand ? values_[typed].type : instr.dtype;
    const std::string right_side = TRY(expression(instr, operand_type));
    const Lane lane = result_lane(instr);
    Value result{cat("v", number), lane, DType::kF32};
    if (instr.op == PointOp::kCast)
      result.type = instr.dtype;
    else if (lane == Lane::kI64)
      result.type = instr.dtype == DType::kF32 ? operand_type : instr.dtype;
    text_ += cat("  const ", lane_type(lane), " ", result.name, " = ", right_side, ";\n");
    values_[instr.dst] = result;
    return {};
  }

  const Value& value(uint8_t reg) const { return values_[reg]; }
  const std::string& text() const { return text_; }

 private:
  Result<std::string> expression(const PointInstr& instr, DType operand_type) const {
    if (instr.op == PointOp::kLiteral) return literal_of(instr);
    if (instr.op == PointOp::kIndex) return cat("at(", instr.imm_int, ")");
    if (instr.op == PointOp::kCast) return cast(instr, operand_type);
    if (instr.lane == Lane::kI64) return integer(instr, operand_type);
    if (is_logic(instr.op) || is_bitwise(instr.op))
      return error(Code::kUnsupported, task::point_op_name(instr.op),
                   " of floats has no CUDA form");
    return call(instr, false);
  }

  static std::string literal_of(const PointInstr& instr) {
    if (instr.lane == Lane::kI64) return literal(instr.imm_int);
    if (instr.lane == Lane::kF64) return literal(instr.imm_double);
    return literal(static_cast<float>(instr.imm_double));
  }

  Result<std::string> cast(const PointInstr& instr, DType operand_type) const {
    const std::string_view type = device_type(instr.dtype);
    if (type.empty())
      return error(Code::kUnsupported, "casts to ", instr.dtype, " have no CUDA form");
    return cat("point_cast<", type, ">(", operand(instr.a, operand_type == DType::kU64), ")");
  }

  std::string integer(const PointInstr& instr, DType operand_type) const {
    std::string text;
    if (instr.op == PointOp::kIsNan || instr.op == PointOp::kIsInf)
      text = literal(int64_t{0});
    else if (instr.op == PointOp::kClip)
      text = cat("point_clip(", values_[instr.a].name, ", ",
                 literal(integer_bound(std::ceil(instr.alpha))), ", ",
                 literal(integer_bound(std::floor(instr.beta))), ")");
    else if (keeps_integers(instr.op))
      text = values_[instr.a].name;
    else
      text = call(instr, operand_type == DType::kU64);
    const bool unwrapped = is_comparison(instr.op) || is_logic(instr.op) ||
                           instr.op == PointOp::kWhere || is_float(instr.dtype);
    if (unwrapped || size_bytes(instr.dtype) == 8) return text;
    return cat("point_wrap<", device_type(instr.dtype), ">(", text, ")");
  }

  std::string call(const PointInstr& instr, bool is_unsigned) const {
    const bool as_unsigned = is_unsigned && reads_sign(instr.op);
    const std::array<uint8_t, 3> operands = {instr.a, instr.b, instr.c};
    std::string text = cat("point_", task::point_op_name(instr.op), "(");
    for (int k = 0; k < task::arity(instr.op); ++k)
      text += cat(k > 0 ? ", " : "", operand(operands[static_cast<size_t>(k)], as_unsigned));
    if (n_parameters(instr.op) > 0) text += ", " + literal(instr.alpha);
    if (n_parameters(instr.op) > 1) text += ", " + literal(instr.beta);
    return text + ")";
  }

  std::string operand(uint8_t reg, bool as_unsigned) const {
    const std::string& name = values_[reg].name;
    return as_unsigned ? cat("static_cast<uint64_t>(", name, ")") : name;
  }

  std::array<Value, task::kMaxPointRegisters> values_;
  std::string text_;
};

DType type_of(Lane lane) {
  return lane == Lane::kF32 ? DType::kF32 : lane == Lane::kF64 ? DType::kF64 : DType::kI64;
}

}  // namespace

std::string_view lane_type(Lane lane) {
  switch (lane) {
    case Lane::kF32:
      return "float";
    case Lane::kF64:
      return "double";
    case Lane::kI64:
      return "int64_t";
  }
  return "";
}

std::vector<Lane> output_lanes(const task::PointProgram& program,
                               std::span<const Lane> input_lanes) {
  std::array<Lane, task::kMaxPointRegisters> lanes{};
  std::copy(input_lanes.begin(), input_lanes.end(), lanes.begin());
  for (const PointInstr& instr : program.code) lanes[instr.dst] = result_lane(instr);
  std::vector<Lane> out;
  for (const uint8_t reg : program.outputs) out.push_back(lanes[reg]);
  return out;
}

bool uses_index(const task::PointProgram& program) {
  return std::any_of(program.code.begin(), program.code.end(),
                     [](const PointInstr& instr) { return instr.op == PointOp::kIndex; });
}

Result<std::string> point_function(const task::PointProgram& program,
                                   std::span<const DType> input_types, std::string_view name) {
  std::vector<Lane> lanes;
  for (const DType type : input_types) lanes.push_back(task::lane_of(type));
  TRY(task::validate(program, lanes));
  Writer writer(input_types);
  for (size_t i = 0; i < program.code.size(); ++i) TRY(writer.add(i, program.code[i]));
  std::string text = cat("template <class At>\nTW_DEVICE void ", name, "(At at");
  for (size_t i = 0; i < lanes.size(); ++i) text += cat(", ", lane_type(lanes[i]), " r", i);
  std::string stores;
  for (size_t o = 0; o < program.outputs.size(); ++o) {
    const Value& value = writer.value(program.outputs[o]);
    text += cat(", ", lane_type(value.lane), "& y", o);
    stores += cat("  y", o, " = ", value.name, ";\n");
  }
  return cat(text, ") {\n", writer.text(), stores, "}\n");
}

Result<std::string> point_function(const task::PointProgram& program,
                                   std::span<const Lane> input_lanes, std::string_view name) {
  std::vector<DType> types;
  for (const Lane lane : input_lanes) types.push_back(type_of(lane));
  return point_function(program, types, name);
}

}  // namespace tw::cuda
