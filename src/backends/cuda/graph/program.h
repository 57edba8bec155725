// program.h: a concrete program as the graph executor runs it: its records in seq order, each as
// kernel launches, a copy between places, or work of the host.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/launch.h"
#include "backends/cuda/place.h"
#include "backends/device/device.h"

namespace tw::cuda {

class Device;

/// A launch with its kernel found.
struct Kernel {
  cudaKernel_t function = nullptr;
  Launch launch;
};

struct Step {
  enum class Kind : uint8_t {
    kHost,
    kKernels,
    kToDevice,
    kToHost
  };
  Kind kind = Kind::kKernels;
  const task::Record* record = nullptr;
  std::vector<Kernel> kernels;                            // kKernels
  task::SlotId from = task::kNoSlot, to = task::kNoSlot;  // of a copy between places
  uint32_t queue = 0;                                     // of the program
};

/// Steps [begin, end) that all run on one side.
struct Segment {
  bool on_host = false;
  uint32_t begin = 0, end = 0;
};

/// "task 3 (gather 'lookup')"
std::string describe(const task::Program& program, const task::Record& record);

class Program : public backends::DeviceProgram {
 public:
  static Result<std::unique_ptr<Program>> make(const task::Program& program, const Device& device);

  const task::Program& program() const override { return program_; }
  bool is_on_host(const task::Record& record) const override {
    return place_of(record, program_.slots) == Place::kHost;
  }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Segment>& segments() const { return segments_; }
  /// Whether tasks run on the host, or copies go there.
  bool uses_host() const { return uses_host_; }
  /// Never the same for two programs of a process.
  uint64_t id() const { return id_; }

 private:
  explicit Program(const task::Program& program);
  Result<Step> make_step(const task::Record& record, const Device& device) const;

  const task::Program& program_;
  uint64_t id_ = 0;
  std::vector<Step> steps_;
  std::vector<Segment> segments_;
  bool uses_host_ = false;
};

}  // namespace tw::cuda
