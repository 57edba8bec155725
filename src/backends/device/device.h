// device.h: what the runtime asks of a backend whose memory and order of work are not the host's.
// A program that has tasks on both sides is run in seq order; the device calls back for the host's.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace tw::backends {

/// A program made ready for the device. Immutable, shared by sessions. The program outlives it.
class DeviceProgram {
 public:
  virtual ~DeviceProgram() = default;
  virtual const task::Program& program() const = 0;
  virtual bool is_on_host(const task::Record& record) const = 0;
};

/// Runs records [first, last) of the program, counted in seq order, on the host. `addresses` has
/// the host address of each slot, null for those of the device.
using RunOnHost = std::function<Result<void>(std::span<std::byte* const> addresses, uint32_t first,
                                             uint32_t last)>;

/// Device time of one task, in microseconds.
struct TaskTime {
  uint32_t seq = 0;
  double us = 0;
  int launches = 0;
};

/// Repeated runs, one element each, in microseconds.
struct RunTimes {
  std::vector<double> device_us;  // between the ends of a run and of the one before it
  std::vector<double> host_us;    // that the calling thread takes to enqueue a run
};

/// What a run found out about itself; times are of the last run.
struct RunStats {
  int launches = 0;  // kernels and copies
  int graph_launches = 0;
  double device_us = 0;  // from the first to the last piece of device work
};

/// Memory and streams of one context. One call at a time.
class DeviceSession {
 public:
  virtual ~DeviceSession() = default;
  /// Runs the program with these host buffers, one for each of its inputs and outputs; returns when
  /// the outputs are there.
  virtual Result<void> run(const DeviceProgram& program, std::span<const std::byte* const> inputs,
                           std::span<std::byte* const> outputs, const RunOnHost& run_on_host) = 0;
  /// Runs it `n` times with the inputs of the last run, everything staying on the device. Fails
  /// when tasks run on the host.
  virtual Result<RunTimes> time_runs(const DeviceProgram& program, int n) = 0;
  /// The device's time of each task, measured inside one graph; the median of `n` runs.
  virtual Result<std::vector<TaskTime>> time_tasks(const DeviceProgram& program, int n) = 0;
  virtual RunStats stats() const = 0;
  /// Bytes held on the device by this session.
  virtual int64_t device_bytes() const = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  /// "NVIDIA H200, driver 13.0".
  virtual std::string description() const = 0;
  /// What users of the plan should know of how it runs here, each sentence once. It may grow when
  /// programs are prepared. Thread-safe.
  virtual std::vector<std::string> notes() const { return {}; }
  virtual Result<std::unique_ptr<DeviceProgram>> prepare(const task::Program& program) const = 0;
  virtual Result<std::unique_ptr<DeviceSession>> make_session() const = 0;
};

/// The device that the plan's target names, with the plan's weights and kernels on it; null for
/// plans of the CPU. Fails with kIncompatible, saying wanted and found. The plan outlives it.
Result<std::unique_ptr<Device>> open_device(const plan::Plan& plan);

}  // namespace tw::backends
