// plan.h: elementwise programs made ready to run, and the interpreter that runs them. A block of
// up to 512 elements passes through one instruction at a time, so that every instruction is one
// call of a vector kernel on data in the first-level cache.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "backends/cpu/window.h"
#include "task/pointwise.h"

namespace tw::cpu {

/// A program with what the interpreter wants to know of its registers.
struct PointPlan : Prepared {
  using Types = FixedList<DType, task::kMaxOperands>;
  task::PointView program;  // in the side table, which outlives the plan
  Types inputs, outputs;
  /// By register: the lane it has at the end, and whether it is a literal that nothing overwrites.
  std::array<task::Lane, task::kMaxPointRegisters> lane{};
  std::array<bool, task::kMaxPointRegisters> is_literal{};
  /// By register: whether an input of that number keeps its value to the end.
  std::array<bool, task::kMaxPointRegisters> keeps_input{};
  /// By output: its register may live in the result itself. That holds when it is written once, in
  /// the lane that the result stores, and after the last read of any input: then a result may also
  /// be one of the inputs.
  FixedList<bool, task::kMaxOperands> in_place;
  /// By instruction: the type of operand a, which tells u64 from i64.
  std::vector<DType> operand_type;
  bool uses_index = false;
};

/// Studies the program at `offset` of the side table for operands of these types.
Result<std::unique_ptr<PointPlan>> make_point_plan(std::span<const std::byte> side,
                                                   task::SideOffset offset,
                                                   const PointPlan::Types& inputs,
                                                   const PointPlan::Types& outputs);

/// outputs[..] = program(inputs[..]) for every element of `outputs[0].dims`; inputs have been
/// repeated to these dims. `origin` is the coordinate of the first element, for index instructions.
void run_points(const PointPlan& plan, const Kernels& kernels, Scratch& scratch, const Dims& origin,
                std::span<const Window> inputs, std::span<const Window> outputs);

/// One register of a block: n elements in the lane of the program's choice.
struct PointRegister {
  void* data = nullptr;
  bool uniform = false;  // all elements of the block are the same
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};
using PointRegisters = std::array<PointRegister, task::kMaxPointRegisters>;

/// One instruction over n elements, by the lane of its operands.
void run_f32(const Kernels& kernels, const task::PointInstr& instr, const PointRegisters& r,
             int64_t n);
void run_f64(const task::PointInstr& instr, const PointRegisters& r, int64_t n);
void run_i64(const task::PointInstr& instr, DType operand_type, const PointRegisters& r, int64_t n);
/// dst = a in the type `instr.dtype`, from lane From.
template <class From>
void run_cast(const task::PointInstr& instr, DType operand_type, const PointRegisters& r,
              int64_t n);

}  // namespace tw::cpu
