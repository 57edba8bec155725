#include "backends/cuda/build/target.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "backends/cuda/build/pack.h"
#include "backends/cuda/graph/contract.h"
#include "backends/cuda/launch.h"
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/place.h"
#include "backends/cuda/tasks/gemm.h"

namespace tw::cuda {
namespace {

/// Sizes of open symbols for which kernels are put into the plan: which ones a program needs
/// changes with what divides its sizes and with how large they are.
constexpr int64_t kSizes[] = {1, 2, 3, 4, 7, 8, 12, 16, 17, 32, 48, 64, 100, 128, 256, 384, 512};

std::optional<planner::PackedWeight> stored(std::vector<std::byte> bytes) {
  return planner::PackedWeight{std::move(bytes), task::Layout::kPanels};
}

bool is_device_float(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

/// Adds the sources of the program's device tasks; tasks that cannot run at these sizes add none.
void collect_sources(const task::Program& program, std::set<std::string>& sources) {
  for (const task::Record& record : program.records) {
    if (record.kind == task::Tasks::number_of<task::JoinTask>() ||
        place_of(record, program.slots) != Place::kDevice)
      continue;
    const auto launches = make_launches({record, program.slots, program.side});
    if (!launches.ok()) continue;
    for (const Launch& launch : launches.value()) sources.insert(launch.source);
  }
}

Result<std::vector<plan::Kernel>> compile_all(const std::set<std::string>& sources) {
  std::vector<plan::Kernel> kernels;
  for (const std::string& source : sources) kernels.push_back({source, {}});
  std::vector<std::optional<Error>> failures(kernels.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < kernels.size(); i = next++) {
      auto compiled = compile_kernel(kernels[i].source, std::string(kComputeTarget));
      if (compiled.ok())
        kernels[i].code = std::move(compiled).take().cubin;
      else
        failures[i] = compiled.error();
    }
  };
  std::vector<std::jthread> threads;
  const unsigned n_threads = std::max(1U, std::thread::hardware_concurrency());
  for (unsigned t = 1; t < n_threads && t < kernels.size(); ++t) threads.emplace_back(work);
  work();
  threads.clear();
  for (const auto& failure : failures)
    if (failure) return *failure;
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

  Result<void> choose_tactics(std::vector<task::Record>& records, task::Slots slots,
                              std::span<const std::byte> side,
                              std::vector<std::string>& reports) const override {
    for (task::Record& record : records) {
      const bool product = record.kind == task::Tasks::number_of<task::GemmTask>() ||
                           record.kind == task::Tasks::number_of<task::ConvTask>();
      if (product && options_.allow_tf32) record.flags |= kAllowTf32;
    }
    return choose_variants(records, slots, side, options_.tactics, reports);
  }

  std::optional<std::string> declines(const task::Record& record, task::Slots slots,
                                      std::span<const std::byte> side) const override {
    const auto launches = make_launches({record, slots, side});
    if (launches.ok()) return std::nullopt;
    return launches.error().message;
  }

  Result<std::vector<plan::Kernel>> compile_kernels(
      const std::vector<task::Program>& programs) const override {
    std::set<std::string> sources;
    for (const task::Program& program : programs) {
      collect_sources(program, sources);
      if (!program.is_parametric()) continue;
      for (const int64_t size : kSizes) {
        const auto other = task::instantiate(
            program, std::vector<int64_t>(program.parametric.symbols.size(), size));
        if (other.ok()) collect_sources(other.value(), sources);
      }
    }
    return compile_all(sources);
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
