// launch.h: what a task becomes on the device: kernel launches as data. They follow from the record
// and its slots alone, so the builder (which compiles the sources) and the executor (which finds
// them compiled in the plan) come to the same ones. No CUDA header is needed here.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "task/record.h"

namespace tw::cuda {

/// A record and what it refers to.
struct TaskView {
  const task::Record& record;
  task::Slots slots;
  std::span<const std::byte> side;

  const task::SlotInfo& slot(task::SlotId id) const { return slots[task::index(id)]; }
};

/// Byte `offset` of the parameters takes the address of the slot's element with all coordinates 0.
struct Pointer {
  uint32_t offset = 0;
  task::SlotId slot = task::kNoSlot;
};

/// What a tensor map of the parameters (TensorMap in kernels/gemm_params.h) says of a slot: boxes
/// of 128 bytes of the innermost dim by `rows`, in shared memory with the 128-byte swizzle; what
/// lies outside the slot is zero.
struct TensorBoxes {
  uint32_t offset = 0;  // of the map in the parameters
  task::SlotId slot = task::kNoSlot;
  DType dtype = DType::kF16;  // two bytes an element
  uint32_t rows = 0;
  uint32_t rank = 2;                    // 2: a matrix; 4: pixels of images [n, h, w, c]
  uint32_t lines = 0;                   // rank 4: of a rectangle `rows` wide; 0: single pixels
  std::array<uint64_t, 4> dims{};       // innermost first
  std::array<uint64_t, 3> pitches{};    // bytes from a neighbour to the next, of dims[1] on
  std::array<int, 2> lower{}, upper{};  // single: corners of the pixels that a window's first tap
  std::array<uint32_t, 2> steps{1, 1};  // meets, and the steps between them; w, h
};

/// One launch. The kernel's one parameter is a struct by value (`const __grid_constant__ Params`).
struct Launch {
  /// The unit that is compiled: includes of kernels/*.cuh, then `extern "C" __global__ void
  /// tw_kernel(..)`. It is also the kernel's identity: equal text, equal kernel.
  std::string source;
  std::array<uint32_t, 3> grid{1, 1, 1};
  uint32_t threads = 128;     // a block, one-dimensional
  uint32_t shared_bytes = 0;  // dynamic
  uint32_t cluster = 1;       // blocks of a cluster, along x
  std::vector<std::byte> params;
  std::vector<Pointer> pointers;
  std::vector<TensorBoxes> boxes;
  /// Where the parameters take the address of the session's IndexFault (kernels/index_fault.h);
  /// nothing: the kernel takes no indices as data.
  std::optional<uint32_t> fault_offset;
};

template <class Params>
Launch make_launch(std::string source, const Params& params) {
  static_assert(std::is_trivially_copyable_v<Params> && sizeof(Params) <= 4096);
  Launch launch;
  launch.source = std::move(source);
  launch.params.resize(sizeof(Params));
  std::memcpy(launch.params.data(), &params, sizeof(Params));
  if constexpr (requires { params.check.fault; })
    launch.fault_offset =
        static_cast<uint32_t>(reinterpret_cast<const std::byte*>(&params.check.fault) -
                              reinterpret_cast<const std::byte*>(&params));
  return launch;
}

/// Absent operands leave the pointer null.
inline void point_at(Launch& launch, size_t offset, task::SlotId slot) {
  if (slot != task::kNoSlot) launch.pointers.push_back({static_cast<uint32_t>(offset), slot});
}

/// The launches of a whole op, in order. A task with nothing to do (empty outputs) has none. The
/// error is a sentence that says why the task has no CUDA form: it then runs on the CPU.
Result<std::vector<Launch>> make_launches(const TaskView& view);

/// A number for the text of all kernels and what the host makes of them: launches of one version go
/// with kernels of that version.
std::string kernels_version();

/// "float", "f16", "bf16", "int8_t" ...: the element type's name in kernels/base.cuh.
std::string_view device_type(DType dtype);

}  // namespace tw::cuda
