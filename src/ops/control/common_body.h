// common_body.h: what if, loop and scan share: inference and evaluation of closed bodies. A body's
// inputs are everything that it reads; values of the outer graph come as captures, the last inputs
// of node and body alike.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/contexts.h"

namespace tw::ops {

/// Input `i` of the node, with what is known of its contents.
ir::Value input_value(const ir::InferContext& c, size_t i);
/// A value of which only the type is known.
ir::Value typed_value(ir::TensorType type);

/// Outputs of `body` for these inputs. Symbols that the body makes up get names of their own in the
/// outer graph.
Result<std::vector<ir::Value>> infer_body(ir::InferContext& c, const ir::Graph& body,
                                          const std::vector<ir::Value>& inputs);

/// Values that a body takes from its last iteration. Their dims may change from one to the next;
/// dims that do are open: a symbol stands for each.
class CarriedTypes {
 public:
  /// Carried values start as the inputs from `first` on.
  CarriedTypes(const ir::InferContext& c, size_t first, size_t n);
  const std::vector<ir::Value>& values() const { return values_; }
  /// Opens the dims in which `next`, the outputs of an iteration, differ from values(). True when
  /// nothing was opened.
  Result<bool> settle(ir::InferContext& c, const ir::Value* next);
  /// `dim` when it is the same in all iterations, else a new symbol.
  Dim steady(ir::InferContext& c, const Dim& dim) const;

 private:
  std::vector<ir::Value> values_;
  std::set<std::string> open_;
};

/// Tensors of equal type, one an iteration, one after another along a new first dim.
Result<Tensor> stack(const std::vector<Tensor>& items);
/// What `stack` gives when there was no iteration: zero elements of a body output of this type.
Result<Tensor> stack_of_none(const ir::TensorType& item);
/// Known types and contents of concrete inputs, for inference at evaluation.
ir::Value concrete_value(const Tensor& tensor);
/// A 0-d tensor.
Tensor scalar_tensor(DType dtype, int64_t value);

}  // namespace tw::ops
