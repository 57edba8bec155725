// index_faults.h: what kernels say of indices that are out of range, on its way to the host. The
// word is in device memory, and a flag beside it in memory of the host: a run without a fault
// copies and resets nothing.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/graph/memory.h"
#include "backends/cuda/kernels/index_fault.h"
#include "task/program.h"

namespace tw::cuda {

/// The sentence of the CPU backend for the same index, with the task in front. kInternal when the
/// fault is of no task of this program that takes indices.
Error index_error(const task::Program& program, const IndexFault& fault);

/// Of one stream, and not thread-safe.
class IndexFaults {
 public:
  /// Once, before anything else.
  Result<void> make(cudaStream_t stream);
  /// What Launch::fault_offset takes.
  std::byte* address() const { return fault_.data(); }
  /// Fails with the fault that comes first in what ran since the last call, which was all of
  /// `program`; it is then forgotten. The stream must be done.
  Result<void> take(const task::Program& program);

 private:
  Result<void> reset();
  volatile unsigned& seen() const { return *reinterpret_cast<volatile unsigned*>(seen_.data()); }

  cudaStream_t stream_ = nullptr;
  DeviceBuffer fault_;
  PinnedBuffer seen_;
};

}  // namespace tw::cuda
