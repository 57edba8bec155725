#include "backends/cuda/build/target.h"

#include <cuda_runtime_api.h>

#include <map>

#include "backends/cuda/build/pack.h"
#include "backends/cuda/build/sizes.h"
#include "backends/cuda/graph/contract.h"
#include "backends/cuda/launch.h"
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/place.h"
#include "backends/cuda/tasks/gemm.h"
#include "task/variants.h"

namespace tw::cuda {
namespace {

/// Texts of kernels; true: a plan without this one is not built.
using Sources = std::map<std::string, bool>;

std::optional<planner::PackedWeight> stored(std::vector<std::byte> bytes) {
  return planner::PackedWeight{std::move(bytes), task::Layout::kPanels};
}

bool is_device_float(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

/// Adds the sources of the program's device tasks; tasks that cannot run at these sizes add none.
/// A variant of another range of sizes is added too: sizes that are not looked at lie in that range
/// and may need what it becomes at these.
void collect_sources(const task::Program& program, Sources& sources) {
  const auto add = [&](const task::Record& record, bool required) {
    const auto launches = make_launches({record, program.slots, program.side});
    if (!launches.ok()) return;
    for (const Launch& launch : launches.value()) {
      bool& is_required = sources[launch.source];
      is_required = is_required || required;
    }
  };
  for (task::Record record : program.records) {
    if (record.kind == task::Tasks::number_of<task::JoinTask>() ||
        place_of(record, program.slots) != Place::kDevice)
      continue;
    add(record, true);
    for (const auto& range : task::ranges_of(program.parametric.variants, record.op)) {
      record.variant = range.variant;
      add(record, false);
    }
  }
}

Result<std::vector<plan::Kernel>> compile_all(const Sources& sources,
                                              const BuildProgress& progress) {
  std::vector<std::string> texts;
  for (const auto& [source, required] : sources) texts.push_back(source);
  std::vector<Result<Compiled>> compiled =
      compile_kernels(texts, std::string(kComputeTarget), [&](double share) {
        if (progress) progress("compiling kernels", share);
      });
  std::vector<plan::Kernel> kernels;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (compiled[i].ok())
      kernels.push_back({texts[i], std::move(compiled[i]).take().cubin});
    else if (sources.at(texts[i]))
      return compiled[i].error();
  }
  return kernels;
}

class Target : public planner::TargetServices {
 public:
  explicit Target(TargetOptions options) : options_(std::move(options)) {}

  std::string name() const override { return "sm_90"; }
  plan::Contract contract() const override { return make_contract(); }
  bool has_device() const override { return true; }
  int n_queues() const override { return options_.queues; }
  task::QueueKind queue_kind() const override { return task::QueueKind::kStream; }

  Result<std::optional<planner::PackedWeight>> pack(const task::Record& record,
                                                    std::string_view operand,
                                                    const Tensor& weight) const override {
    if (!is_device_float(weight.dtype())) return std::optional<planner::PackedWeight>();
    if (record.kind == task::Tasks::number_of<task::GemmTask>() && operand == "b" &&
        weight.rank() == 2)
      return stored(
          TRY(pack_gemm_b(weight, task::decode<task::GemmTask>(record).transpose_b != 0)));
    if (record.kind == task::Tasks::number_of<task::ConvTask>() && operand == "w")
      return stored(TRY(pack_conv_w(weight, task::decode<task::ConvTask>(record).groups)));
    return std::optional<planner::PackedWeight>();
  }

  Result<void> choose_tactics(const task::Program& program, std::vector<task::Draft::Task>& tasks,
                              std::vector<std::string>& reports) const override {
    for (task::Draft::Task& one : tasks) {
      const bool product = one.record.kind == task::Tasks::number_of<task::GemmTask>() ||
                           one.record.kind == task::Tasks::number_of<task::ConvTask>();
      if (product && options_.allow_tf32) one.record.flags |= kAllowTf32;
    }
    return choose_variants(program, tasks, options_.tactics, reports);
  }

  std::optional<std::string> declines(const task::Record& record, task::Slots slots,
                                      std::span<const std::byte> side) const override {
    const auto launches = make_launches({record, slots, side});
    if (launches.ok()) return std::nullopt;
    return launches.error().message;
  }

  Result<std::vector<plan::Kernel>> compile_kernels(
      const std::vector<task::Program>& programs) const override {
    Sources sources;
    for (const task::Program& program : programs) {
      collect_sources(program, sources);
      for (const std::vector<int64_t>& sizes : kernel_sizes(program)) {
        const auto other = task::instantiate(program, sizes);
        if (other.ok()) collect_sources(other.value(), sources);
      }
    }
    return compile_all(sources, options_.tactics.progress);
  }

 private:
  TargetOptions options_;
};

}  // namespace

bool gpu_is_here() {
  int n_devices = 0, major = 0;
  return cudaGetDeviceCount(&n_devices) == cudaSuccess && n_devices > 0 &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
         major == 9;
}

std::unique_ptr<planner::TargetServices> make_target(const TargetOptions& options) {
  return std::make_unique<Target>(options);
}

}  // namespace tw::cuda
