#include "backends/cuda/build/measure.h"

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "backends/cuda/graph/memory.h"
#include "backends/cuda/graph/submit.h"
#include "backends/cuda/nvrtc.h"
#include "base/tensor.h"

namespace tw::cuda {
namespace {

constexpr int kLaunches = 24, kReplays = 5;
constexpr int64_t kLargeResult = 4 << 20;  // elements from which a few launches fill the time
constexpr int64_t kBeyondL2 = 160LL << 20;

struct LaunchDeleter {
  void operator()(CUstream_st* stream) const { cudaStreamDestroy(stream); }
  void operator()(CUgraphExec_st* graph) const { cudaGraphExecDestroy(graph); }
  void operator()(CUevent_st* event) const { cudaEventDestroy(event); }
};
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, LaunchDeleter>;

/// Kernels stay loaded as long as the process: a build times the same ones again and again.
Result<cudaKernel_t> loaded(const std::string& source) {
  static std::map<std::string, cudaKernel_t> known;
  const auto found = known.find(source);
  if (found != known.end()) return found->second;
  const Compiled compiled = TRY(compile_kernel(source, "sm_90a"));
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  TRY(check(cudaLibraryLoadData(&library, compiled.cubin.data(), nullptr, nullptr, 0, nullptr,
                                nullptr, 0),
            "a kernel"));
  TRY(check(cudaLibraryGetKernel(&kernel, library, "tw_kernel"), "a kernel"));
  known[source] = kernel;
  return kernel;
}

/// Many different values: the clock that the device holds depends on the bits that change. Made
/// once a type; indices and the like are 0.
Result<std::reference_wrapper<const Tensor>> random_values(DType dtype) {
  constexpr int64_t kCount = 1 << 20;
  static std::map<DType, Tensor> made;
  const auto found = made.find(dtype);
  if (found != made.end()) return std::cref(found->second);
  Tensor values = TRY(Tensor::try_make(dtype, Dims{kCount}));
  std::mt19937 random(1);
  std::normal_distribution<float> value(0, 1);
  for (int64_t i = 0; i < kCount; ++i)
    is_float(dtype) ? values.set_float(i, value(random)) : values.set_int(i, 0);
  return std::cref(made.emplace(dtype, std::move(values)).first->second);
}

/// Device memory for an operand, in `n` copies.
class Operand {
 public:
  Result<void> make(const task::SlotInfo& slot, int n) {
    const task::ByteRange range = task::byte_range(slot, task::Box::whole(slot));
    const int64_t reach = slot.layout == task::Layout::kStrided
                              ? std::max<int64_t>(range.end - std::min<int64_t>(range.begin, 0), 16)
                              : std::max<int64_t>(slot.storage_bytes, 16);
    pitch_ = (reach + 255) / 256 * 256;
    TRY(memory_.reserve(pitch_ * n, "an operand"));
    offset_ = slot.layout == task::Layout::kStrided ? slot.offset_in_root() : 0;
    return fill(slot.dtype, n);
  }
  std::byte* address(int copy) const { return memory_.data() + copy * pitch_ + offset_; }

 private:
  Result<void> fill(DType dtype, int n) {
    const Tensor& pattern = TRY(random_values(dtype));
    const int64_t bytes = pitch_ * n;
    for (int64_t at = 0; at < bytes; at += pattern.bytes()) {
      const bool first = at == 0;  // the others are copies of it
      TRY(check(cudaMemcpy(memory_.data() + at, first ? pattern.data() : memory_.data(),
                           static_cast<size_t>(std::min(bytes - at, pattern.bytes())),
                           first ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice),
                "an operand"));
    }
    return {};
  }

  DeviceBuffer memory_;
  int64_t pitch_ = 0, offset_ = 0;
};

}  // namespace

class TaskTimer::Body {
 public:
  explicit Body(const TaskView& view) : view_(view) {
    for (const task::Operand& operand : task::operands(view.record))
      if (operand.mode != task::Mode::kRead && view.slot(operand.slot).count() >= kLargeResult)
        n_launches_ = kLaunches / 6;
  }

  Result<double> run(const std::vector<Launch>& launches, double hopeless_us) {
    if (operands_.empty()) TRY(make_operands());
    cudaStream_t stream = nullptr;
    TRY(check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream"));
    const Owned<cudaStream_t> stream_owner(stream);
    for (const Launch& launch : launches)
      TRY(check(cudaFuncSetAttribute(reinterpret_cast<const void*>(TRY(loaded(launch.source))),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(launch.shared_bytes)),
                "shared memory"));
    const Owned<cudaGraphExec_t> graph(TRY(capture(launches, stream)));
    return time(graph.get(), stream, hopeless_us);
  }

 private:
  Result<void> make_operands() {
    for (const task::Operand& operand : task::operands(view_.record)) {
      const task::SlotInfo& slot = view_.slot(operand.slot);
      const int64_t bytes = std::max<int64_t>(slot.storage_bytes, 1);
      const int n = slot.immutable() && slot.space == task::Space::kWeight
                        ? static_cast<int>(std::clamp<int64_t>(kBeyondL2 / bytes, 1, kLaunches))
                        : 1;
      copies_[operand.slot] = n;
      TRY(operands_[operand.slot].make(slot, n));
    }
    return {};
  }

  Result<cudaGraphExec_t> capture(const std::vector<Launch>& launches, cudaStream_t stream) {
    TRY(check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "a capture"));
    Result<void> emitted;
    for (int i = 0; i < n_launches_ && emitted.ok(); ++i)
      for (const Launch& launch : launches)
        if (emitted.ok()) emitted = emit(launch, i, stream);
    cudaGraph_t graph = nullptr;
    const Result<void> ended = check(cudaStreamEndCapture(stream, &graph), "the end of a capture");
    if (!emitted.ok()) return emitted.error();
    if (!ended.ok()) return ended.error();
    cudaGraphExec_t exec = nullptr;
    const Result<void> made = check(cudaGraphInstantiate(&exec, graph, 0), "a graph");
    cudaGraphDestroy(graph);
    if (!made.ok()) return made.error();
    return exec;
  }

  Result<void> emit(const Launch& launch, int i, cudaStream_t stream) {
    const auto address = [&](task::SlotId id) {
      return operands_.at(id).address(i % copies_.at(id));
    };
    return submit(launch, TRY(loaded(launch.source)), stream, true, nullptr, address);
  }

  Result<double> time(cudaGraphExec_t graph, cudaStream_t stream, double hopeless_us) const {
    cudaEvent_t begin = nullptr, end = nullptr;
    TRY(check(cudaEventCreate(&begin), "an event"));
    const Owned<cudaEvent_t> begin_owner(begin);
    TRY(check(cudaEventCreate(&end), "an event"));
    const Owned<cudaEvent_t> end_owner(end);
    float best = 1e30F;
    for (int replay = 0; replay <= kReplays; ++replay) {
      TRY(check(cudaEventRecord(begin, stream), "an event"));
      TRY(check(cudaGraphLaunch(graph, stream), "a graph"));
      TRY(check(cudaEventRecord(end, stream), "an event"));
      TRY(check(cudaStreamSynchronize(stream), "the kernels"));
      float ms = 0;
      TRY(check(cudaEventElapsedTime(&ms, begin, end), "the time of an event"));
      best = replay == 1 ? ms : std::min(best, ms);  // the first fetches the code
      if (replay == 0 && double{ms} * 1000 / n_launches_ > hopeless_us) break;
    }
    return double{best} * 1000 / n_launches_;
  }

  const TaskView view_;
  int n_launches_ = kLaunches;
  std::map<task::SlotId, Operand> operands_;
  std::map<task::SlotId, int> copies_;
};

TaskTimer::TaskTimer(const TaskView& view) : body_(std::make_unique<Body>(view)) {}
TaskTimer::~TaskTimer() = default;

Result<double> TaskTimer::measure_us(const std::vector<Launch>& launches, double hopeless_us) {
  return body_->run(launches, hopeless_us);
}

std::string measuring_device() {
  int n = 0, driver = 0;
  cudaDeviceProp properties{};
  if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0 ||
      cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.major != 9)
    return "";
  cudaDriverGetVersion(&driver);
  return cat(properties.name, " sm_", properties.major, properties.minor, " driver ", driver);
}

}  // namespace tw::cuda
