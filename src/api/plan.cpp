#include "tilewright/plan.h"

#include "api/handles.h"

namespace tilewright {
namespace {

std::vector<Port> public_ports(const std::vector<tw::plan::Port>& ports) {
  std::vector<Port> result;
  for (const tw::plan::Port& port : ports) {
    Port made{port.name, static_cast<DType>(port.dtype), {}};
    for (const tw::Dim& dim : port.shape) made.dims.push_back(tw::to_string(dim));
    result.push_back(std::move(made));
  }
  return result;
}

}  // namespace

Plan make_plan(tw::plan::Plan plan) {
  auto impl = std::make_shared<Plan::Impl>();
  impl->inputs = public_ports(plan.main.inputs);
  impl->outputs = public_ports(plan.main.outputs);
  impl->plan = std::move(plan);
  return Plan(std::move(impl));
}

Result<Plan> Plan::load(const std::string& path) {
  auto plan = tw::plan::read_plan(path);
  if (!plan.ok()) return public_error(plan.error());
  return make_plan(std::move(plan).take());
}

Result<void> Plan::save(const std::string& path) const {
  const auto written = tw::plan::write_plan(impl_->plan, path);
  if (!written.ok()) return public_error(written.error());
  return {};
}

const std::vector<Port>& Plan::inputs() const { return impl_->inputs; }
const std::vector<Port>& Plan::outputs() const { return impl_->outputs; }
std::string_view Plan::contract(std::string_view key) const {
  return tw::plan::contract_value(impl_->plan.contract, key);
}
const std::vector<std::string>& Plan::reports() const { return impl_->plan.reports; }
int64_t Plan::tasks() const {
  int64_t n = 0;
  for (const tw::task::Program& program : impl_->plan.programs)
    n += static_cast<int64_t>(program.records.size());
  return n;
}
int64_t Plan::weights_bytes() const { return static_cast<int64_t>(impl_->plan.weights.size()); }

}  // namespace tilewright
