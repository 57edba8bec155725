#include "backends/cuda/codegen/epilogue.h"
#include <algorithm>

#include "backends/cuda/codegen/points.h"
#include "base/cat.h"

namespace tw::cuda {
namespace {

/// Extra<..> or Result<..> for an operand.
std::string operand_type(std::string_view kind, const MatrixOperand& operand, DType dtype,
                         int vector) {
  const int64_t piece = std::min<int64_t>(vector, 16 / size_bytes(dtype));
  const bool vectors = operand.params.col_stride == 1 && operand.elems_aligned % piece == 0;
  const std::string_view access = vectors                          ? "kVector"
                                  : operand.params.col_stride == 0 ? "kSame"
                                                                   : "kStrided";
  return cat(kind, "<", device_type(dtype), ", ", operand.levels, ", Access::", access, ", ",
             vector, ">");
}

Result<void> check_type(DType dtype) {
  if (!device_type(dtype).empty()) return {};
  return error(Code::kUnsupported, "an epilogue on ", dtype, " has no CUDA form");
}

/// The text of one operand: its member, how it begins, how it reads a row.
struct Member {
  std::string declaration, initializer, load;
};

Member member(std::string_view name, std::string_view param, const std::string& type) {
  return {cat("  ", type, " ", name, ";\n"), cat(name, "(p.", param, ", batch, col)"),
          cat(name, ".load(row); ")};
}

/// tw_point, and the statements that turn `sum` into `result[i]`.
struct Points {
  std::string function, statements;
};

Result<Points> make_points(const TaskView& view, const EpilogueOperands& operands,
                           const EpilogueCode& code) {
  const std::string_view out_type = device_type(view.slot(operands.out).dtype);
  const std::string_view store = code.needs_points ? "to_element" : "from_lane";
  if (operands.program == task::kNoProgram)
    return Points{"", cat("      result[i] = ", store, "<", out_type, ">(sum);\n")};
  const task::PointProgram program = TRY(task::read_point_program(view.side, operands.program));
  for (const task::PointInstr& instr : program.code)
    if (instr.op == task::PointOp::kIndex)
      return error(Code::kUnsupported, "an epilogue that reads coordinates has no CUDA form");
  std::vector<task::Lane> lanes = {task::Lane::kF32};
  std::string arguments = "NoCoordinates{}, sum";
  for (size_t i = 0; i < code.extra_slots.size(); ++i) {
    lanes.push_back(task::lane_of(view.slot(code.extra_slots[i]).dtype));
    arguments += cat(", x", i, "[i]");
  }
  const task::Lane lane = output_lanes(program, lanes)[0];
  return Points{TRY(point_function(program, lanes, "tw_point")),
                cat("      ", lane_type(lane), " y;\n      tw_point(", arguments,
                    ", y);\n      result[i] = to_element<", out_type, ">(y);\n")};
}

/// Brings the bias of a block's columns near before anything is waited for.
std::string prefetch_text(const EpilogueCode& code, DType bias, bool has_bias) {
  if (!has_bias || code.bias.params.batch_strides[0] != 0)
    return "  static TW_DEVICE void prefetch(const Params&, int) {}\n";
  return cat(
      "  static TW_DEVICE void prefetch(const Params& p, int col) {\n    if (col < p.n) "
      "prefetch_l2(static_cast<const ",
      device_type(bias), "*>(p.bias.data) + col * p.bias.col_stride);\n  }\n");
}

std::string struct_text(const std::vector<Member>& members, std::string_view out_type, int vector,
                        const Points& points, std::string_view sum, std::string_view prefetch,
                        bool loads_rows) {
  std::string declarations, initializers, loads;
  for (const Member& m : members) {
    declarations += m.declaration;
    initializers += cat(initializers.empty() ? "" : ", ", m.initializer);
    loads += m.load;
  }
  return cat(points.function, "struct Epilogue {\n", declarations,
             "  static constexpr bool kLoadsRows = ", loads_rows ? "true" : "false",
             ";\n  float alpha;\n"
             "  template <class Batch>\n"
             "  TW_DEVICE Epilogue(const Params& p, const Batch& batch, int col)\n      : ",
             initializers, ", alpha(p.alpha) {}\n", prefetch,
             "  TW_DEVICE void load(uint32_t row) { ", loads,
             "}\n"
             "  TW_DEVICE void store(uint32_t row, const float (&sums)[",
             vector, "]) {\n    Columns<", out_type, ", ", vector,
             "> result;\n#pragma unroll\n    for (int i = 0; i < ", vector,
             "; ++i) {\n      const float sum = ", sum, ";\n", points.statements,
             "    }\n    out.store(row, result);\n  }\n};\n");
}

}  // namespace

Result<EpilogueCode> make_epilogue(const TaskView& view, const EpilogueOperands& operands,
                                   const MatrixDims& dims, int64_t max_vector) {
  const task::SlotInfo& out = view.slot(operands.out);
  const int64_t cols = dims.cols();
  EpilogueCode code;
  code.needs_points = operands.program != task::kNoProgram || !is_float(out.dtype);
  const int64_t vector = cols % 8 == 0 ? 8 : cols % 4 == 0 ? 4 : 1;
  code.vector = static_cast<int>(std::min(vector, max_vector));
  TRY(check_type(out.dtype));
  std::vector<Member> members;
  const bool has_bias = operands.bias != task::kNoSlot;
  if (has_bias) {
    const task::SlotInfo& bias = view.slot(operands.bias);
    if (task::lane_of(bias.dtype) != task::Lane::kF32 || device_type(bias.dtype).empty())
      return error(Code::kUnsupported, "a bias of ", bias.dtype, " has no CUDA form");
    code.bias = TRY(matrix_operand(StridedView::of(bias), dims));
    members.push_back(
        member("bias", "bias", operand_type("Extra", code.bias, bias.dtype, code.vector)));
  }
  for (const task::In extra : operands.extra) {
    if (extra.id == task::kNoSlot) break;
    const task::SlotInfo& slot = view.slot(extra.id);
    TRY(check_type(slot.dtype));
    const std::string i = cat(code.extras.size());
    code.extras.push_back(TRY(matrix_operand(StridedView::of(slot), dims)));
    code.extra_slots.push_back(extra.id);
    members.push_back(member(cat("x", i), cat("extra[", i, "]"),
                             operand_type("Extra", code.extras.back(), slot.dtype, code.vector)));
  }
  code.out = TRY(matrix_operand(StridedView::of(out), dims));
  Member result = member("out", "out", operand_type("Result", code.out, out.dtype, code.vector));
  result.load.clear();
  members.push_back(result);
  const bool loads_rows = std::any_of(code.extras.begin(), code.extras.end(),
                                      [](const MatrixOperand& extra) { return extra.levels > 0; });
  const DType bias = has_bias ? view.slot(operands.bias).dtype : DType::kF32;
  code.text = struct_text(members, device_type(out.dtype), code.vector,
                          TRY(make_points(view, operands, code)),
                          has_bias ? "fmaf(alpha, sums[i], bias[i])" : "alpha * sums[i]",
                          prefetch_text(code, bias, has_bias), loads_rows);
  return code;
}

}  // namespace tw::cuda
