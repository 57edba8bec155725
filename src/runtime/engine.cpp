#include "runtime/engine.h"

#include "runtime/devices.h"

#include <thread>

namespace tw::runtime {
namespace {

Result<cpu::Isa> choose_isa(const plan::Plan& plan, const EngineOptions& options) {
  const std::string_view target = plan::contract_value(plan.contract, "target");
  if (!target.starts_with("cpu ")) return cpu::best_isa();  // of the tasks that run on the host
  const std::string_view packed_for = target.substr(4);
  for (const cpu::Isa isa : cpu::kAllIsas) {
    if (packed_for != cpu::isa_name(isa)) continue;
    if (!cpu::isa_supported(isa))
      return error(Code::kIncompatible, "the plan wants ", packed_for, ", found ",
                   cpu::isa_name(cpu::best_isa()));
    if (options.isa && *options.isa != isa)
      return error(Code::kIncompatible, "the plan is packed for ", packed_for, ", asked to run as ",
                   cpu::isa_name(*options.isa));
    return isa;
  }
  if (packed_for != "portable")
    return error(Code::kIncompatible, "the plan wants instruction set '", packed_for, "', found ",
                 cpu::isa_name(cpu::best_isa()));
  const cpu::Isa isa = options.isa.value_or(cpu::best_isa());
  if (!cpu::isa_supported(isa))
    return error(Code::kIncompatible, "asked to run as ", cpu::isa_name(isa), ", found ",
                 cpu::isa_name(cpu::best_isa()));
  return isa;
}

}  // namespace

Result<std::shared_ptr<const Engine>> Engine::make(plan::Plan plan, const EngineOptions& options) {
  const cpu::Isa isa = TRY(choose_isa(plan, options));
  auto engine = std::shared_ptr<Engine>(new Engine(std::move(plan)));
  engine->isa_ = isa;
  engine->device_ = TRY(open_device(engine->plan_));
  engine->max_instances_ = options.max_instances;
  ThreadPool::Options pool;
  pool.n_workers = options.threads > 0
                       ? options.threads
                       : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  pool.spin_pauses = options.spin_pauses;
  engine->pool_ = std::make_unique<ThreadPool>(pool);
  return std::shared_ptr<const Engine>(std::move(engine));
}

Result<void> Engine::prepare(Instance& instance) const {
  auto* weights = const_cast<std::byte*>(
      plan_.weights.data());  // read only: the verifier has seen that no task writes them
  std::function<bool(const task::Record&)> runs;
  if (device_ != nullptr) {
    instance.on_device = TRY(device_->prepare(instance.program));
    runs = [&](const task::Record& record) { return instance.on_device->is_on_host(record); };
  }
  instance.executor = TRY(cpu::Executor::make(instance.program, weights, cpu::kernels(isa_), runs));
  return {};
}

Result<std::shared_ptr<const Instance>> Engine::instance(
    uint32_t program, const std::vector<int64_t>& symbol_values) const {
  Key key{program, symbol_values};
  {
    const std::lock_guard lock(mutex_);
    const auto found = instances_.find(key);
    if (found != instances_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second.place);
      return found->second.instance;
    }
  }
  auto made = std::make_shared<Instance>();
  made->program = TRY(task::instantiate(plan_.programs[program], symbol_values));
  TRY(prepare(*made));
  ++instances_made_;
  const std::lock_guard lock(mutex_);
  const auto [it, inserted] = instances_.try_emplace(key);
  if (!inserted) return it->second.instance;
  recent_.push_front(key);
  it->second = {made, recent_.begin()};
  if (instances_.size() > max_instances_) {
    instances_.erase(recent_.back());
    recent_.pop_back();
  }
  return std::shared_ptr<const Instance>(std::move(made));
}

}  // namespace tw::runtime
