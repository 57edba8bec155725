#include "planner/pointwise_lowering.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/op_def.h"
#include "ops/lower.h"

namespace tw::planner {
namespace {

/// Emits instructions on an unbounded set of virtual registers; compact() maps them onto the few
/// that exist.
class Emitter {
 public:
  uint8_t fresh() { return next_++; }
  bool overflow() const { return overflow_; }
  uint8_t emit(task::PointInstr instr) {
    overflow_ = overflow_ || next_ == 255;
    instr.dst = fresh();
    code_.push_back(instr);
    return instr.dst;
  }
  std::vector<task::PointInstr>& code() { return code_; }
  uint8_t n_registers() const { return next_; }

 private:
  std::vector<task::PointInstr> code_;
  uint8_t next_ = 0;
  bool overflow_ = false;
};

class NodeContext : public ops::PointwiseContext {
 public:
  NodeContext(const ir::Graph& graph, const ir::Node& node, Emitter& emitter,
              std::map<ir::ValueId, uint8_t>& register_of)
      : PointwiseContext(node), graph_(graph), emitter_(emitter), register_of_(register_of) {}

  const ir::TensorType& in_type(size_t i) const override {
    return graph_.value(node().inputs[i]).type;
  }
  const ir::TensorType& out_type() const override { return graph_.value(node().outputs[0]).type; }
  uint8_t in(size_t i) const override {
    const ir::ValueId id = node().inputs[i];
    const auto found = register_of_.find(id);
    if (found != register_of_.end()) return found->second;
    const Tensor& constant = *graph_.value(id).constant;
    const task::Lane lane = task::lane_of(constant.dtype());
    const uint8_t reg = lane == task::Lane::kI64
                            ? emit_literal_int(constant.int_at(0), constant.dtype())
                            : emit_literal(constant.dtype(), constant.float_at(0));
    register_of_[id] = reg;
    return reg;
  }
  uint8_t literal(DType dtype, double value) override {
    return task::lane_of(dtype) == task::Lane::kI64
               ? emit_literal_int(static_cast<int64_t>(value), dtype)
               : emit_literal(dtype, value);
  }
  uint8_t literal_int(int64_t value) override { return emit_literal_int(value, DType::kI64); }
  uint8_t emit(task::PointOp op, DType dtype, uint8_t a, uint8_t b, uint8_t c, float alpha,
               float beta) override {
    task::PointInstr instr;
    instr.op = op;
    instr.lane = task::lane_of(dtype);
    instr.dtype = dtype;
    instr.a = a;
    instr.b = b;
    instr.c = c;
    instr.alpha = alpha;
    instr.beta = beta;
    return emitter_.emit(instr);
  }
  uint8_t cast(uint8_t from, DType from_type, DType to_type) override {
    task::PointInstr instr;
    instr.op = task::PointOp::kCast;
    instr.lane = task::lane_of(from_type);
    instr.dtype = to_type;
    instr.a = from;
    return emitter_.emit(instr);
  }
  void set_out(uint8_t reg) override { register_of_[node().outputs[0]] = reg; }

 private:
  uint8_t emit_literal(DType dtype, double value) const {
    task::PointInstr instr;
    instr.op = task::PointOp::kLiteral;
    instr.lane = task::lane_of(dtype);
    instr.dtype = dtype;
    instr.imm_double = value;
    return emitter_.emit(instr);
  }
  uint8_t emit_literal_int(int64_t value, DType dtype) const {
    task::PointInstr instr;
    instr.op = task::PointOp::kLiteral;
    instr.lane = task::Lane::kI64;
    instr.dtype = dtype;
    instr.imm_int = value;
    return emitter_.emit(instr);
  }

  const ir::Graph& graph_;
  Emitter& emitter_;
  std::map<ir::ValueId, uint8_t>& register_of_;
};

uint8_t* operand(task::PointInstr& instr, int k) {
  return k == 0 ? &instr.a : k == 1 ? &instr.b : &instr.c;
}

/// Gives each virtual register one of the 32 while it is needed; inputs keep theirs.
Result<task::PointProgram> compact(Emitter& emitter, size_t n_inputs,
                                   const std::vector<uint8_t>& outputs) {
  std::vector<int> last_use(emitter.n_registers(), -1);
  auto& code = emitter.code();
  for (size_t i = 0; i < code.size(); ++i)
    for (int k = 0; k < task::arity(code[i].op); ++k)
      last_use[*operand(code[i], k)] = static_cast<int>(i);
  for (const uint8_t reg : outputs) last_use[reg] = static_cast<int>(code.size());
  std::vector<int> place(emitter.n_registers(), -1);
  std::set<uint8_t> free_places;
  for (uint8_t p = static_cast<uint8_t>(n_inputs); p < task::kMaxPointRegisters; ++p)
    free_places.insert(p);
  for (size_t i = 0; i < n_inputs; ++i) place[i] = static_cast<int>(i);
  task::PointProgram program;
  program.n_inputs = static_cast<uint8_t>(n_inputs);
  program.n_registers = program.n_inputs;
  for (size_t i = 0; i < code.size(); ++i) {
    task::PointInstr instr = code[i];
    std::set<uint8_t> released;
    for (int k = 0; k < task::arity(instr.op); ++k) {
      const uint8_t from = *operand(instr, k);
      *operand(instr, k) = static_cast<uint8_t>(place[from]);
      if (last_use[from] == static_cast<int>(i) && from >= n_inputs)
        released.insert(static_cast<uint8_t>(place[from]));
    }
    if (free_places.empty())
      return error(Code::kUnsupported, "an elementwise program needs more than ",
                   task::kMaxPointRegisters, " registers");
    const uint8_t to =
        *free_places.begin();  // never an operand's, so that no instruction works in place
    free_places.erase(free_places.begin());
    place[instr.dst] = to;
    const uint8_t virtual_dst = instr.dst;
    instr.dst = to;
    program.n_registers = std::max<uint8_t>(program.n_registers, static_cast<uint8_t>(to + 1));
    program.code.push_back(instr);
    free_places.insert(released.begin(), released.end());
    if (last_use[virtual_dst] < 0) free_places.insert(to);
  }
  for (const uint8_t reg : outputs) program.outputs.push_back(static_cast<uint8_t>(place[reg]));
  return program;
}

}  // namespace

Result<task::PointProgram> lower_pointwise(const ir::Graph& graph,
                                           const std::vector<const ir::Node*>& nodes,
                                           const std::vector<ir::ValueId>& inputs,
                                           const std::vector<ir::ValueId>& outputs) {
  Emitter emitter;
  std::map<ir::ValueId, uint8_t> register_of;
  for (const ir::ValueId id : inputs) register_of[id] = emitter.fresh();
  for (const ir::Node* node : nodes) {
    NodeContext context(graph, *node, emitter, register_of);
    TRY(node->op->pointwise(context).in(node->name));
    if (emitter.overflow())
      return error(Code::kUnsupported, "an elementwise program of more than 255 values");
  }
  std::vector<uint8_t> results;
  for (const ir::ValueId id : outputs) results.push_back(register_of.at(id));
  return compact(emitter, inputs.size(), results);
}

}  // namespace tw::planner
