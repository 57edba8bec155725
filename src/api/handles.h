// handles.h: what stands behind the public handles, and the ways between public and internal types.
#pragma once

#include "base/tensor.h"
#include "plan/plan.h"
#include "runtime/engine.h"
#include "tilewright/engine.h"

namespace tilewright {

struct Plan::Impl {
  tw::plan::Plan plan;
  std::vector<Port> inputs, outputs;  // as the public API shows them
};

struct Engine::Impl {
  Plan plan;
  std::shared_ptr<const tw::runtime::Engine> engine;
};

struct Context::Impl {
  explicit Impl(const std::shared_ptr<const tw::runtime::Engine>& engine) : context(engine) {}
  tw::runtime::Context context;
};

/// Makes public tensors of internal ones; the bytes are shared.
struct TensorAccess {
  static Tensor make(const tw::Tensor& tensor);
};

Error public_error(const tw::Error& error);
/// Shares the bytes. Fails on more than 8 dims.
tw::Result<tw::Tensor> internal_tensor(const Tensor& tensor);
Plan make_plan(tw::plan::Plan plan);

}  // namespace tilewright
