// elementwise: one strided loop; the program's function is called for each element of a piece.
#include "backends/cuda/codegen/points.h"
#include "backends/cuda/tasks/strided_loop.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {
namespace {

/// The task with its operands present and its program decoded.
struct Parts {
  task::PointProgram program;
  std::vector<LoopOperand> operands;
  std::vector<DType> input_types;
  std::vector<task::Lane> input_lanes;
};

Result<Parts> take_apart(const task::ElementwiseTask& task, const TaskView& view) {
  Parts parts;
  parts.program = TRY(task::read_point_program(view.side, task.program));
  const Dims dims = view.slot(task.y[0].id).shape();
  for (const task::In x : task.x) {
    if (x.id == task::kNoSlot) continue;
    parts.operands.push_back(loop_operand(view, x.id, dims));
    parts.input_types.push_back(view.slot(x.id).dtype);
    parts.input_lanes.push_back(task::lane_of(view.slot(x.id).dtype));
  }
  for (const task::Out y : task.y) {
    if (y.id == task::kNoSlot) continue;
    parts.operands.push_back(loop_operand(view, y.id));
    parts.operands.back().is_output = true;
  }
  for (const LoopOperand& operand : parts.operands)
    if (operand.type.empty())
      return error(Code::kUnsupported, "elementwise tasks on ", view.slot(operand.id).dtype,
                   " have no CUDA form");
  return parts;
}

/// struct Work: a piece of each input, and what becomes of it.
std::string work_struct(const Parts& parts, const StridedLoop& loop, const LoopPlan& plan) {
  const size_t n_inputs = parts.input_types.size(), n_outputs = loop.operands.size() - n_inputs;
  const std::vector<task::Lane> lanes = output_lanes(parts.program, parts.input_lanes);
  std::string members, loads, results, values, arguments, puts, stores;
  for (size_t i = 0; i < n_inputs; ++i) {
    members += cat("  ", piece_type(loop, i), " x", i, ";\n");
    loads += cat("    x", i, ".load(p, ", i, ", at);\n");
    arguments += cat(", to_lane(x", i, "[i])");
  }
  for (size_t o = 0; o < n_outputs; ++o) {
    const size_t k = n_inputs + o;
    results += cat("    ", piece_type(loop, k), " y", o, ";\n");
    values += cat("      ", lane_type(lanes[o]), " z", o, ";\n");
    arguments += cat(", z", o);
    puts += cat("      y", o, ".at(i) = to_element<", loop.operands[k].type, ">(z", o, ");\n");
    stores += cat("    y", o, ".store(p, ", k, ", at);\n");
  }
  const std::string coordinates =
      uses_index(parts.program)
          ? cat("Coordinates<At, ", plan.outer, ", ", plan.padding(loop), ">{at, i}")
          : "NoCoordinates{}";
  return cat("\ntemplate <int kN>\nstruct Work {\n", members,
             "  template <class P, class At>\n  TW_DEVICE void load(const P& p, const At& at) {\n",
             loads,
             "  }\n  template <class P, class At>\n"
             "  TW_DEVICE void finish(const P& p, const At& at) {\n",
             results, "#pragma unroll\n    for (int i = 0; i < kN; ++i) {\n", values,
             "      point(", coordinates, arguments, ");\n", puts, "    }\n", stores, "  }\n};\n");
}

}  // namespace

Launches launch_task(const task::ElementwiseTask& task, const TaskView& view) {
  Parts parts = TRY(take_apart(task, view));
  const std::string function =
      TRY(point_function(parts.program, std::span<const DType>(parts.input_types), "point"));
  const Dims dims = view.slot(task.y[0].id).shape();
  // Coordinates keep their meaning only while dims stay apart.
  const StridedLoop loop = uses_index(parts.program) ? make_plain_loop(dims, parts.operands)
                                                     : make_loop(dims, parts.operands);
  if (loop.empty()) return std::vector<Launch>{};
  const LoopPlan plan = plan_loop(loop);
  const std::string source =
      cat("#include \"base.cuh\"\n#include \"points.cuh\"\n#include \"elementwise.cuh\"\n\n",
          function, work_struct(parts, loop, plan), loop_kernel(plan, "LoopParams"));
  return std::vector<Launch>{loop_launch<LoopParams>(loop, plan, source, [](auto&) {})};
}

}  // namespace tw::cuda
