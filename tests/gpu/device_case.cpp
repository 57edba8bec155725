#include "device_case.h"

#include <cuda_runtime_api.h>

#include <cmath>
#include <map>

#include "backends/cuda/build/pack.h"
#include "backends/cuda/graph/index_faults.h"
#include "backends/cuda/graph/memory.h"
#include "backends/cuda/graph/submit.h"
#include "backends/cuda/nvrtc.h"

namespace tw::gpu {
namespace {

constexpr const char* kArch = "sm_90a";
constexpr int kMaxShown = 5;

/// Kernels compiled and loaded once a process.
Result<cudaKernel_t> kernel(const std::string& source) {
  static std::map<std::string, cudaKernel_t> known;
  const auto found = known.find(source);
  if (found != known.end()) return found->second;
  const cuda::Compiled compiled = TRY(cuda::compile_kernel(source, kArch));
  cudaLibrary_t library = nullptr;
  cudaKernel_t made = nullptr;
  TRY(cuda::check(cudaLibraryLoadData(&library, compiled.cubin.data(), nullptr, nullptr, 0, nullptr,
                                      nullptr, 0),
                  "a kernel"));
  TRY(cuda::check(cudaLibraryGetKernel(&made, library, "tw_kernel"), "a kernel"));
  known[source] = made;
  return made;
}

/// The net's slots in device memory.
class OnDevice {
 public:
  explicit OnDevice(const cpu::Net& net) : net_(net), slots_(net.program.slots) {}

  Result<void> upload() {
    TRY(faults_.make(nullptr));
    for (size_t i = 0; i < net_.memory.size(); ++i) TRY(put(i, net_.memory[i]));
    return {};
  }

  /// Weights of products as plans store them.
  Result<void> pack_weights() {
    for (const task::Record& record : net_.program.records) {
      if (record.kind == task::Tasks::number_of<task::GemmTask>()) {
        const auto one = task::decode<task::GemmTask>(record);
        TRY(pack(one.b.id,
                 [&](const Tensor& w) { return cuda::pack_gemm_b(w, one.transpose_b != 0); }));
      } else if (record.kind == task::Tasks::number_of<task::ConvTask>()) {
        const auto one = task::decode<task::ConvTask>(record);
        TRY(pack(one.w.id, [&](const Tensor& w) { return cuda::pack_conv_w(w, one.groups); }));
      }
    }
    return {};
  }

  Result<void> run() {
    for (const task::Record& record : net_.program.records)
      for (const cuda::Launch& launch :
           TRY(cuda::make_launches({record, slots_, net_.program.side})))
        TRY(run(launch).in(task::kind_name(record.kind)));
    TRY(cuda::check(cudaDeviceSynchronize(), "the kernels"));
    return faults_.take(net_.program);
  }

  Result<std::vector<std::byte>> download(task::SlotId id) const {
    std::vector<std::byte> bytes(net_.memory[task::index(id)].size());
    TRY(cuda::check(cudaMemcpy(bytes.data(), memory_.at(task::index(id)).data(), bytes.size(),
                               cudaMemcpyDeviceToHost),
                    "a result"));
    return bytes;
  }

 private:
  Result<void> put(size_t i, std::span<const std::byte> bytes) {
    TRY(memory_[i].reserve(std::max<int64_t>(256, static_cast<int64_t>(bytes.size())), "a slot"));
    return cuda::check(
        cudaMemcpy(memory_[i].data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
        "a slot");
  }

  template <class Packer>
  Result<void> pack(task::SlotId id, const Packer& packer) {
    task::SlotInfo& slot = slots_[task::index(id)];
    if (!slot.immutable() || slot.layout != task::Layout::kStrided || !task::is_contiguous(slot))
      return {};
    const auto bytes = packer(
        Tensor::view(slot.dtype, slot.shape(), net_.memory[task::index(id)].data(), nullptr));
    if (!bytes.ok()) return {};  // what has no packed form stays as it is
    slot.layout = task::Layout::kPanels;
    slot.storage_bytes = static_cast<int64_t>(bytes.value().size());
    return put(task::index(id), bytes.value());
  }

  Result<void> run(const cuda::Launch& launch) {
    cudaKernel_t function = TRY(kernel(launch.source));
    TRY(cuda::check(cudaFuncSetAttribute(reinterpret_cast<const void*>(function),
                                         cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(launch.shared_bytes)),
                    "shared memory"));
    TRY(cuda::submit(launch, function, nullptr, false, faults_.address(), [&](task::SlotId id) {
      const task::SlotInfo& slot = slots_[task::index(id)];
      return memory_.at(task::index(slot.root)).data() + slot.offset_in_root();
    }));
    return cuda::check(cudaDeviceSynchronize(), "a kernel");
  }

  const cpu::Net& net_;
  std::vector<task::SlotInfo> slots_;
  std::map<size_t, cuda::DeviceBuffer> memory_;
  cuda::IndexFaults faults_;
};

/// How many bytes differ, and where.
std::string differences(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  size_t n = 0, first = 0, last = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) first = n++ == 0 ? i : first, last = i;
  return cat(n, " of ", a.size(), " bytes, from byte ", first, " to ", last);
}

/// The bytes that two runs from the same start give; they must be equal.
Result<std::vector<std::byte>> run_twice(const cpu::Net& before, task::SlotId result, bool packed) {
  std::vector<std::byte> first;
  for (int run = 0; run < 2; ++run) {
    OnDevice device(before);
    TRY(device.upload());
    if (packed) TRY(device.pack_weights());
    TRY(device.run());
    std::vector<std::byte> bytes = TRY(device.download(result));
    if (run == 0)
      first = std::move(bytes);
    else if (first != bytes)
      return error(Code::kInternal, "two runs give different bits, ", differences(first, bytes));
  }
  return first;
}

void expect_close(cpu::Net& wanted, cpu::Net& found, task::SlotId result, double tolerance) {
  int n_shown = 0;
  const bool exact = !is_float(wanted.slot(result).dtype);
  cpu::for_each_coordinate(wanted.slot(result).shape(), [&](const Dims& at) {
    if (n_shown >= kMaxShown) return;
    const double a = wanted.get(result, at), b = found.get(result, at);
    const bool same = exact ? wanted.get_int(result, at) == found.get_int(result, at)
                            : a == b || (std::isnan(a) && std::isnan(b)) ||
                                  std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(a));
    if (same) return;
    ++n_shown;
    ADD_FAILURE() << "at [" << join(at, ",") << "] the device gives " << b << ", expected " << a;
  });
}

}  // namespace

bool has_device() {
  int n = 0;
  return cudaGetDeviceCount(&n) == cudaSuccess && n > 0;
}

Result<std::vector<std::byte>> bytes_on_device(const cpu::Net& net, task::SlotId result) {
  return run_twice(net, result, true);
}

std::string error_on_device(const cpu::Net& net) {
  OnDevice device(net);
  const auto run = [&]() -> Result<void> {
    TRY(device.upload());
    return device.run();
  };
  const Result<void> done = run();
  return done.ok() ? "" : done.error().message;
}

void expect_compiles(const cpu::Net& net) {
  std::vector<task::SlotInfo> packed = net.program.slots;
  for (const task::Record& record : net.program.records)
    for (const task::Operand& operand : task::operands(record))
      if (task::SlotInfo& slot = packed[task::index(operand.slot)];
          slot.immutable() && task::is_contiguous(slot) &&
          (std::string_view(operand.name) == "w" || std::string_view(operand.name) == "b"))
        slot.layout = task::Layout::kPanels;
  for (const task::Slots slots : {task::Slots(net.program.slots), task::Slots(packed)})
    for (const task::Record& record : net.program.records) {
      const auto launches = cuda::make_launches({record, slots, net.program.side});
      ASSERT_TRUE(launches.ok()) << launches.error().message;
      for (const cuda::Launch& launch : launches.value()) {
        const auto compiled = cuda::compile_kernel(launch.source, kArch);
        ASSERT_TRUE(compiled.ok()) << compiled.error().message;
        EXPECT_TRUE(compiled.value().log.find(" 0 bytes spill stores") != std::string::npos)
            << compiled.value().log;
      }
    }
}

void expect_bits(cpu::Net& net, task::SlotId result, std::vector<std::byte>& first) {
  if (!has_device()) return expect_compiles(net);
  const auto bytes = bytes_on_device(net, result);
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  if (first.empty()) first = bytes.value();
  EXPECT_EQ(bytes.value(), first);
}

void expect_same_on_device(cpu::Net& net, task::SlotId result, double tolerance) {
  if (!has_device()) {
    expect_compiles(net);
    GTEST_SKIP() << "no GPU: the kernels were compiled only";
  }
  const cpu::Net before = net;
  ASSERT_EQ(net.run({}), "");
  for (const bool packed : {false, true}) {
    const auto bytes = run_twice(before, result, packed);
    ASSERT_TRUE(bytes.ok()) << bytes.error().message;
    cpu::Net found = before;
    found.memory[task::index(result)] = bytes.value();
    expect_close(net, found, result, tolerance);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace tw::gpu
