// common_scatter.h: what ScatterElements and ScatterND do with an update, once its place is known.
#pragma once

#include <vector>

#include "base/tensor.h"
#include "ir/contexts.h"
#include "ops/lower.h"

namespace tw::ops {

using Combine = task::ScatterTask::Combine;

/// Attribute 'reduction'; fails, naming it, on an unknown one.
Result<Combine> combine_of(const ir::NodeView& node);

/// Combines updates into a copy of x: in double for floats, exactly for integers.
class ScatterReference {
 public:
  ScatterReference(const Tensor& x, Combine combine);
  void put(int64_t element, const Tensor& updates, int64_t i);
  /// y = x with the updates.
  void store(Tensor& y) const;

 private:
  const Tensor& x_;
  Combine combine_;
  std::vector<double> floats_;  // one of the two holds the elements
  std::vector<int64_t> ints_;
};

/// Copies x to the output and scatters into it.
void emit_scatter(LowerContext& c, task::ScatterTask task);

}  // namespace tw::ops
