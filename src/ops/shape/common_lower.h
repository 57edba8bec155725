// common_lower.h: what the lowering hooks of this folder share: moves between windows, small
// programs, sizes as data.
#pragma once

#include <initializer_list>
#include <vector>

#include "ops/lower.h"

namespace tw::ops {

/// Writes the code of an elementwise task. Registers 0 .. n_inputs - 1 hold the operands.
class CodeWriter {
 public:
  explicit CodeWriter(size_t n_inputs);
  /// The coordinate of the element on `axis`.
  uint8_t index(size_t axis);
  uint8_t literal(int64_t value);
  /// Element 0 of `value`, in the lane of its type.
  uint8_t literal(const Tensor& value);
  /// op on integers.
  uint8_t ints(task::PointOp op, uint8_t a, uint8_t b = 0, uint8_t c = 0);
  /// op in the lane of `dtype`.
  uint8_t op(task::PointOp op, DType dtype, uint8_t a, uint8_t b = 0, uint8_t c = 0);
  /// `from`, in the lane of `from_type`, converted to the lane of `to_type`.
  uint8_t cast(uint8_t from, DType from_type, DType to_type);
  task::PointProgram finish(std::initializer_list<uint8_t> outputs);

 private:
  uint8_t add(task::PointInstr instr);
  task::PointProgram program_;
};

/// y... = program(x...).
void emit_program(LowerContext& c, const task::PointProgram& program,
                  std::initializer_list<task::SlotId> x, std::initializer_list<task::SlotId> y);
void emit_copy(LowerContext& c, task::SlotId from, task::SlotId to);
/// Every element of `to` becomes element 0 of `value`.
void emit_fill(LowerContext& c, const Tensor& value, task::SlotId to);

/// Output `i` is `window`, as it stands where its elements lie row-major without gaps, else copied.
void set_out_window(LowerContext& c, size_t i, task::SlotId window);

/// i64[n] holding the dims. A symbol's value is known to the run only through shapes, so each
/// symbolic dim is counted: the sum over a window of that many ones on a single 1.
task::SlotId dims_as_data(LowerContext& c, const std::vector<Dim>& dims);
/// i64[count]; the count may be symbolic.
task::SlotId int_temp(LowerContext& c, const Dim& count);
/// All elements of an i64 slot of rank 1 multiplied: i64[1].
task::SlotId emit_product(LowerContext& c, task::SlotId factors);

/// Ends the segment and binds `dims`, which inference made as fresh symbols, to elements 0, 1, ..
/// of `sizes`.
Result<void> bind_fresh(LowerContext& c, const std::vector<Dim>& dims, task::SlotId sizes);

}  // namespace tw::ops
