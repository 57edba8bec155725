#include "task/pointwise.h"

#include <array>
#include <cstring>

namespace tw::task {
namespace {

struct OpRow {
  std::string_view name;
  int8_t arity;
  char result;  // 's' lane of the operands, 'i' i64, 'c' given by the instruction
};

constexpr std::array<OpRow, kPointOpCount> kOps = {{
    {"copy", 1, 's'},          {"cast", 1, 'c'},       {"literal", 0, 's'},
    {"index", 0, 'i'},         {"add", 2, 's'},        {"sub", 2, 's'},
    {"mul", 2, 's'},           {"div", 2, 's'},        {"mod", 2, 's'},
    {"fmod", 2, 's'},          {"pow", 2, 's'},        {"min", 2, 's'},
    {"max", 2, 's'},           {"neg", 1, 's'},        {"abs", 1, 's'},
    {"sign", 1, 's'},          {"equal", 2, 'i'},      {"not_equal", 2, 'i'},
    {"less", 2, 'i'},          {"less_equal", 2, 'i'}, {"greater", 2, 'i'},
    {"greater_equal", 2, 'i'}, {"and", 2, 'i'},        {"or", 2, 'i'},
    {"xor", 2, 'i'},           {"not", 1, 'i'},        {"where", 3, 's'},
    {"bit_and", 2, 'i'},       {"bit_or", 2, 'i'},     {"bit_xor", 2, 'i'},
    {"bit_not", 1, 'i'},       {"shift_left", 2, 'i'}, {"shift_right", 2, 'i'},
    {"exp", 1, 's'},           {"log", 1, 's'},        {"sqrt", 1, 's'},
    {"rsqrt", 1, 's'},         {"reciprocal", 1, 's'}, {"tanh", 1, 's'},
    {"erf", 1, 's'},           {"sigmoid", 1, 's'},    {"sin", 1, 's'},
    {"cos", 1, 's'},           {"tan", 1, 's'},        {"asin", 1, 's'},
    {"acos", 1, 's'},          {"atan", 1, 's'},       {"sinh", 1, 's'},
    {"cosh", 1, 's'},          {"asinh", 1, 's'},      {"acosh", 1, 's'},
    {"atanh", 1, 's'},         {"floor", 1, 's'},      {"ceil", 1, 's'},
    {"round", 1, 's'},         {"trunc", 1, 's'},      {"is_nan", 1, 'i'},
    {"is_inf", 1, 'i'},        {"softplus", 1, 's'},   {"gelu", 1, 's'},
    {"gelu_tanh", 1, 's'},     {"silu", 1, 's'},       {"relu", 1, 's'},
    {"leaky_relu", 1, 's'},    {"elu", 1, 's'},        {"hard_sigmoid", 1, 's'},
    {"hard_swish", 1, 's'},    {"clip", 1, 's'},       {"mish", 1, 's'},
    {"celu", 1, 's'},          {"selu", 1, 's'},       {"thresholded_relu", 1, 's'},
}};

constexpr std::array<std::string_view, 3> kLaneNames = {"f32", "f64", "i64"};

/// The lane of operand `k` of `where` and the shifts' like: the condition of `where` is i64, the
/// rest is the instruction's.
Lane operand_lane(const PointInstr& instr, int k) {
  return instr.op == PointOp::kWhere && k == 0 ? Lane::kI64 : instr.lane;
}

Lane result_lane(const PointInstr& instr) {
  const char result = kOps[static_cast<size_t>(instr.op)].result;
  if (result == 'i') return Lane::kI64;
  return result == 'c' ? lane_of(instr.dtype) : instr.lane;
}

template <class T>
void put(std::vector<std::byte>& side, const T& value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  side.insert(side.end(), bytes, bytes + sizeof value);
}

}  // namespace

Lane lane_of(DType dtype) {
  if (dtype == DType::kF64) return Lane::kF64;
  return is_float(dtype) ? Lane::kF32 : Lane::kI64;
}

std::string_view point_op_name(PointOp op) { return kOps[static_cast<size_t>(op)].name; }
int arity(PointOp op) { return kOps[static_cast<size_t>(op)].arity; }

Result<void> validate(const PointView& program, std::span<const Lane> input_lanes) {
  if (program.n_inputs != input_lanes.size())
    return error(Code::kCorrupt, "program takes ", program.n_inputs, " inputs, the task has ",
                 input_lanes.size());
  if (program.n_registers > kMaxPointRegisters || program.n_inputs > program.n_registers)
    return error(Code::kCorrupt, "program names ", program.n_registers, " registers, at most ",
                 kMaxPointRegisters, " are there");
  std::array<int, kMaxPointRegisters> lane{};  // -1: nothing written yet
  lane.fill(-1);
  for (size_t i = 0; i < input_lanes.size(); ++i) lane[i] = static_cast<int>(input_lanes[i]);
  for (size_t i = 0; i < program.code.size(); ++i) {
    const PointInstr& instr = program.code[i];
    if (static_cast<int>(instr.op) >= kPointOpCount || static_cast<int>(instr.lane) > 2 ||
        static_cast<int>(instr.dtype) >= kDTypeCount)
      return error(Code::kCorrupt, "instruction ", i, " has an unknown operation, lane or type");
    const uint8_t operand[3] = {instr.a, instr.b, instr.c};
    for (const uint8_t reg : operand)  // one that is not read too: an executor may look it up
      if (reg >= kMaxPointRegisters)
        return error(Code::kCorrupt, "instruction ", i, " (", point_op_name(instr.op),
                     ") names register ", reg, ", at most ", kMaxPointRegisters, " are there");
    for (int k = 0; k < arity(instr.op); ++k) {
      if (operand[k] >= program.n_registers || lane[operand[k]] < 0)
        return error(Code::kCorrupt, "instruction ", i, " (", point_op_name(instr.op),
                     ") reads register ", operand[k], ", which holds nothing");
      if (lane[operand[k]] != static_cast<int>(operand_lane(instr, k)))
        return error(Code::kCorrupt, "instruction ", i, " (", point_op_name(instr.op),
                     ") reads register ", operand[k], " in another lane");
    }
    if (instr.dst >= program.n_registers)
      return error(Code::kCorrupt, "instruction ", i, " writes register ", instr.dst);
    lane[instr.dst] = static_cast<int>(result_lane(instr));
  }
  for (const uint8_t reg : program.outputs)
    if (reg >= program.n_registers || lane[reg] < 0)
      return error(Code::kCorrupt, "output register ", reg, " holds nothing");
  return {};
}

std::string to_string(const PointProgram& program) {
  std::string text = cat("n_inputs=", program.n_inputs, " out=", join(program.outputs, ","));
  for (const PointInstr& instr : program.code) {
    text += cat(" ; r", instr.dst, " = ", point_op_name(instr.op), ".",
                kLaneNames[static_cast<size_t>(instr.lane)], ".", instr.dtype);
    const uint8_t operand[3] = {instr.a, instr.b, instr.c};
    for (int k = 0; k < arity(instr.op); ++k) text += cat(" r", operand[k]);
    if (instr.op == PointOp::kLiteral && instr.lane != Lane::kI64)
      text += cat(" ", instr.imm_double);
    else if (instr.op == PointOp::kLiteral || instr.op == PointOp::kIndex)
      text += cat(" ", instr.imm_int);
    else if (instr.imm_int != 0)
      text += cat(" alpha=", instr.alpha, " beta=", instr.beta);
  }
  return text;
}

void append_bytes(const PointProgram& program, std::vector<std::byte>& side) {
  side.resize((side.size() + 7) / 8 * 8);
  put(side, program.n_inputs);
  put(side, program.n_registers);
  put(side, static_cast<uint8_t>(program.outputs.size()));
  put(side, uint8_t{0});
  put(side, static_cast<uint32_t>(program.code.size()));
  for (const uint8_t reg : program.outputs) put(side, reg);
  side.resize((side.size() + 7) / 8 * 8);
  for (const PointInstr& instr : program.code) put(side, instr);
}

Result<PointView> view_point_program(std::span<const std::byte> side, uint32_t offset) {
  const auto fits = [&](size_t at, size_t bytes) {
    return at <= side.size() && side.size() - at >= bytes;
  };
  if (offset % 8 != 0 || !fits(offset, 8))
    return error(Code::kCorrupt, "elementwise program at ", offset,
                 " lies outside the side table of ", side.size(), " bytes");
  CHECK(reinterpret_cast<uintptr_t>(side.data()) % alignof(PointInstr) == 0,
        "a side table is aligned as its programs are");
  PointView program;
  program.n_inputs = static_cast<uint8_t>(side[offset]);
  program.n_registers = static_cast<uint8_t>(side[offset + 1]);
  const auto n_outputs = static_cast<uint8_t>(side[offset + 2]);
  uint32_t n_code = 0;
  std::memcpy(&n_code, side.data() + offset + 4, sizeof n_code);
  const size_t code_at = (offset + 8 + n_outputs + size_t{7}) / 8 * 8;
  if (n_code > 4096 || !fits(code_at, n_code * sizeof(PointInstr)))
    return error(Code::kCorrupt, "elementwise program at ", offset, " of ", n_code,
                 " instructions does not fit the side table");
  program.outputs = {reinterpret_cast<const uint8_t*>(side.data() + offset + 8), n_outputs};
  program.code = {reinterpret_cast<const PointInstr*>(side.data() + code_at), n_code};
  return program;
}

Result<PointProgram> read_point_program(std::span<const std::byte> side, uint32_t offset) {
  const PointView view = TRY(view_point_program(side, offset));
  return PointProgram{view.n_inputs,
                      view.n_registers,
                      {view.outputs.begin(), view.outputs.end()},
                      {view.code.begin(), view.code.end()}};
}

}  // namespace tw::task
