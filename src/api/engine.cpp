#include "tilewright/engine.h"

#include "api/handles.h"

namespace tilewright {

Result<Engine> Engine::create(const Plan& plan, const EngineOptions& options) {
  if (options.threads < 0)
    return Error{Code::kInvalidArgument,
                 tw::cat("threads is ", options.threads, ", expected at least 0")};
  tw::runtime::EngineOptions internal;
  internal.threads = options.threads;
  internal.spin_pauses = options.spin_pauses;
  internal.max_instances = options.max_instances;
  auto engine = tw::runtime::Engine::make(plan.impl().plan, internal);
  if (!engine.ok()) return public_error(engine.error());
  return Engine(std::make_shared<const Impl>(Impl{plan, std::move(engine).take()}));
}

Context Engine::create_context() const {
  return Context(std::make_shared<Context::Impl>(impl_->engine));
}
const Plan& Engine::plan() const { return impl_->plan; }
int Engine::threads() const { return impl_->engine->pool().size(); }

Result<std::vector<Tensor>> Context::run(const std::vector<Tensor>& inputs) {
  std::vector<tw::Tensor> internal;
  for (const Tensor& input : inputs) {
    auto tensor = internal_tensor(input);
    if (!tensor.ok()) return public_error(tensor.error());
    internal.push_back(std::move(tensor).take());
  }
  const auto outputs = impl_->context.run(internal);
  if (!outputs.ok()) return public_error(outputs.error());
  std::vector<Tensor> result;
  for (const tw::Tensor& output : outputs.value()) result.push_back(TensorAccess::make(output));
  return result;
}

int64_t Context::arena_bytes() const { return impl_->context.arena_bytes(); }

}  // namespace tilewright
