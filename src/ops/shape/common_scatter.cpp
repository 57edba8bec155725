#include "ops/shape/common_scatter.h"

#include <algorithm>

#include "ops/shape/common_lower.h"

namespace tw::ops {
namespace {

double combined(Combine combine, double old, double update) {
  switch (combine) {
    case Combine::kReplace:
      return update;
    case Combine::kAdd:
      return old + update;
    case Combine::kMul:
      return old * update;
    case Combine::kMin:
      return std::min(old, update);
    case Combine::kMax:
      return std::max(old, update);
  }
  return update;
}

/// Sums and products wrap, as they do in the tensor's own type once they are stored.
int64_t combined(Combine combine, int64_t old, int64_t update) {
  const auto a = static_cast<uint64_t>(old), b = static_cast<uint64_t>(update);
  switch (combine) {
    case Combine::kReplace:
      return update;
    case Combine::kAdd:
      return static_cast<int64_t>(a + b);
    case Combine::kMul:
      return static_cast<int64_t>(a * b);
    case Combine::kMin:
      return std::min(old, update);
    case Combine::kMax:
      return std::max(old, update);
  }
  return update;
}

}  // namespace

Result<Combine> combine_of(const ir::NodeView& node) {
  const std::string name = node.attr_string("reduction");
  if (name == "none") return Combine::kReplace;
  if (name == "add") return Combine::kAdd;
  if (name == "mul") return Combine::kMul;
  if (name == "min") return Combine::kMin;
  if (name == "max") return Combine::kMax;
  return error(Code::kInvalidModel, "attribute 'reduction' is '", name,
               "', expected none, add, mul, min or max");
}

ScatterReference::ScatterReference(const Tensor& x, Combine combine) : x_(x), combine_(combine) {
  for (int64_t i = 0; i < x.count(); ++i) {
    if (is_float(x.dtype()))
      floats_.push_back(x.float_at(i));
    else
      ints_.push_back(x.int_at(i));
  }
}

void ScatterReference::put(int64_t element, const Tensor& updates, int64_t i) {
  const auto at = static_cast<size_t>(element);
  if (is_float(x_.dtype()))
    floats_[at] = combined(combine_, floats_[at], updates.float_at(i));
  else
    ints_[at] = combined(combine_, ints_[at], updates.int_at(i));
}

void ScatterReference::store(Tensor& y) const {
  for (int64_t i = 0; i < y.count(); ++i) {
    if (is_float(x_.dtype()))
      y.set_float(i, floats_[static_cast<size_t>(i)]);
    else
      y.set_int(i, ints_[static_cast<size_t>(i)]);
  }
}

void emit_scatter(LowerContext& c, task::ScatterTask task) {
  emit_copy(c, c.in(0), c.out(0));
  task.index = {c.in(1)};
  task.updates = {c.in(2)};
  task.y = {c.out(0)};
  c.emit(task);
}

}  // namespace tw::ops
