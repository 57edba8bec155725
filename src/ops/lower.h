// lower.h: what an op's `lower` and `pointwise` hooks see. The planner implements both
// (planner/lowering.cpp).
#pragma once

#include <optional>

#include "ir/contexts.h"
#include "task/record.h"

namespace tw::ops {

/// Emits the tasks of one node into the program under construction. Slots carry symbolic shapes
/// here; tasks are whole ops.
class LowerContext : public ir::NodeView {
 public:
  explicit LowerContext(const ir::Node& node) : NodeView(node) {}
  virtual ~LowerContext() = default;

  virtual const ir::TensorType& in_type(size_t i) const = 0;
  virtual const ir::TensorType& out_type(size_t i) const = 0;
  /// Known integer contents / constant of an input; null when only data can tell.
  virtual const std::vector<Dim>* in_ints(size_t i) const = 0;
  virtual const Tensor* in_constant(size_t i) const = 0;

  /// The slot of input `i` (kNoSlot when absent), row-major.
  virtual task::SlotId in(size_t i) = 0;
  /// The slot to write output `i` to, row-major; made on the first call.
  virtual task::SlotId out(size_t i) = 0;
  /// Output `i` is this view; nothing has to be written.
  virtual void set_out(size_t i, task::SlotId view) = 0;
  /// A scratch or constant buffer of its own.
  virtual task::SlotId temp(const ir::TensorType& type) = 0;
  virtual task::SlotId constant(const Tensor& tensor) = 0;

  /// A window on the storage of `slot`, which may itself be a view: dims, strides and offset in
  /// elements; offset and strides count on the root's storage. A negative stride walks backwards, 0
  /// repeats.
  virtual task::SlotId view(task::SlotId slot, const ir::Shape& dims,
                            const std::vector<Dim>& strides, const Dim& offset) = 0;
  /// dims / strides / offset (elements from the root's start) as they stand.
  virtual ir::Shape dims(task::SlotId slot) const = 0;
  virtual std::vector<Dim> strides(task::SlotId slot) const = 0;
  virtual Dim offset(task::SlotId slot) const = 0;

  /// Adds a task. When an epilogue was fused to this node and the task is its gemm or conv, the
  /// planner attaches it.
  template <class Task>
  void emit(const Task& task) {
    emit_record(task::encode(task));
  }
  virtual task::SideOffset add_program(const task::PointProgram& program) = 0;

  /// Ends the segment: the host reads element 0, 1, .. of integer slot `sizes` into the symbols of
  /// that order; what is emitted afterwards may use them. Slot ids stay valid.
  virtual void bind_symbols(const std::vector<std::string>& symbols, task::SlotId sizes) = 0;

  // Conveniences over view().
  task::SlotId reshape(task::SlotId slot, const ir::Shape& dims);  // of a row-major slot
  task::SlotId permute(task::SlotId slot, const std::vector<int64_t>& permutation);
  /// dims [start, start + step * count) of one axis.
  task::SlotId slice(task::SlotId slot, size_t axis, const Dim& start, const Dim& count,
                     int64_t step = 1);
  /// Broadcast to `dims` as numpy does: strides of 0, leading dims added. Dims of 1 must be known
  /// as 1.
  task::SlotId broadcast(task::SlotId slot, const ir::Shape& dims);

 protected:
  virtual void emit_record(task::Record record) = 0;
};

/// Emits the instructions of an elementwise op for one element. Registers are numbered; operands
/// are loaded already.
class PointwiseContext : public ir::NodeView {
 public:
  explicit PointwiseContext(const ir::Node& node) : NodeView(node) {}
  virtual ~PointwiseContext() = default;

  virtual const ir::TensorType& in_type(size_t i) const = 0;
  virtual const ir::TensorType& out_type() const = 0;
  /// Register of input `i`, in the lane of its type.
  virtual uint8_t in(size_t i) const = 0;
  virtual uint8_t literal(DType dtype,
                          double value) = 0;  // floats and small integers, in the lane of dtype
  virtual uint8_t literal_int(int64_t value) = 0;
  /// dst = op(a, b, c) in the lane of `dtype`; alpha and beta are the op's parameters.
  virtual uint8_t emit(task::PointOp op, DType dtype, uint8_t a, uint8_t b = 0, uint8_t c = 0,
                       float alpha = 0, float beta = 0) = 0;
  virtual uint8_t cast(uint8_t from, DType from_type, DType to_type) = 0;
  virtual void set_out(uint8_t reg) = 0;
};

}  // namespace tw::ops
