// session.h: one context's stream, memory and graphs. A program runs launch by launch the first
// time and as CUDA graphs, one a stretch of device work, from its second run on.
#pragma once

#include <list>

#include "backends/cuda/graph/branches.h"
#include "backends/cuda/graph/index_faults.h"
#include "backends/cuda/graph/memory.h"
#include "backends/cuda/graph/program.h"

namespace tw::cuda {

/// An instantiated graph; empty until made.
class GraphExec {
 public:
  GraphExec() = default;
  explicit GraphExec(cudaGraphExec_t exec) : exec_(exec) {}
  GraphExec(GraphExec&& other) noexcept { std::swap(exec_, other.exec_); }
  GraphExec& operator=(GraphExec&& other) noexcept {
    std::swap(exec_, other.exec_);
    return *this;
  }
  ~GraphExec() {
    if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
  }
  cudaGraphExec_t get() const { return exec_; }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

class Session : public backends::DeviceSession {
 public:
  static Result<std::unique_ptr<Session>> make(const Device& device);
  ~Session() override;

  Result<void> run(const backends::DeviceProgram& program, std::span<const std::byte* const> inputs,
                   std::span<std::byte* const> outputs,
                   const backends::RunOnHost& run_on_host) override;
  Result<backends::RunTimes> time_runs(const backends::DeviceProgram& program, int n) override;
  Result<std::vector<backends::TaskTime>> time_tasks(const backends::DeviceProgram& program,
                                                     int n) override;
  backends::RunStats stats() const override { return stats_; }
  int64_t device_bytes() const override;

 private:
  /// Memory and graphs of one program in this session.
  struct Bound {
    uint64_t program_id = 0;
    const Program* program = nullptr;
    DeviceBuffer device_io;  // inputs, then outputs, each at a multiple of 256
    PinnedBuffer host_io;    // the same, on the host
    std::vector<int64_t> io_offsets;
    std::vector<std::byte*> device, host;  // addresses by slot
    std::vector<GraphExec> graphs;         // by segment
    GraphExec core;                        // all device work without the copies of run()
    int n_runs = 0;
  };
  /// What one pass over steps emits.
  struct Emit {
    bool inputs = false, outputs = false;        // copies between host_io and device_io
    std::span<const cudaEvent_t> before_step{};  // recorded in front of each step, and at the end
  };

  explicit Session(const Device& device) : device_(device) {}
  Result<Bound*> bind(const Program& program);
  Result<void> place_memory(Bound& bound);
  void fill_addresses(Bound& bound);
  Result<void> emit(Bound& bound, uint32_t begin, uint32_t end, const Emit& what,
                    Branches& branches);
  Result<void> copy_io(Bound& bound, bool inputs, Lane& lane);
  Result<void> emit_step(const Bound& bound, const Step& step, Lane& lane);
  Result<void> launch(const Bound& bound, const Kernel& kernel, Lane& lane);
  Result<void> make_auxiliary(size_t n_queues);
  Result<GraphExec> capture(Bound& bound, uint32_t begin, uint32_t end, const Emit& what);
  Result<void> run_device_segment(Bound& bound, size_t segment);
  /// Waits for the device. Fails when an index of `program`'s was out of range; the next run is
  /// none the worse for it.
  Result<void> finish(const task::Program& program);
  Result<Bound*> bind_for_timing(const backends::DeviceProgram& program);

  const Device& device_;
  cudaStream_t stream_ = nullptr;
  std::vector<cudaStream_t> auxiliary_;  // of queues 1, 2 ...
  DeviceBuffer arena_;
  PinnedBuffer host_arena_;
  IndexFaults faults_;
  std::list<Bound> bound_;  // front: used last
  backends::RunStats stats_;
};

}  // namespace tw::cuda
