#include "backends/cuda/graph/index_faults.h"

#include "backends/cuda/graph/program.h"

namespace tw::cuda {
namespace {

/// The axis of the indexed slot that number `d` of a tuple counts along.
struct Indexed {
  task::SlotId slot = task::kNoSlot;
  size_t axis = 0;
};

std::optional<Indexed> indexed_by(const task::Record& record, size_t d) {
  if (record.kind == task::Tasks::number_of<task::GatherTask>()) {
    const auto task = task::decode<task::GatherTask>(record);
    const bool tuples = task.kind == task::GatherTask::Kind::kNd;
    return Indexed{task.x.id, d + static_cast<size_t>(tuples ? task.batch_dims : task.axis)};
  }
  if (record.kind == task::Tasks::number_of<task::ScatterTask>()) {
    const auto task = task::decode<task::ScatterTask>(record);
    const bool tuples = task.kind == task::ScatterTask::Kind::kNd;
    return Indexed{task.y.id, d + static_cast<size_t>(tuples ? 0 : task.axis)};
  }
  return std::nullopt;
}

}  // namespace

Error index_error(const task::Program& program, const IndexFault& fault) {
  const uint64_t seq = fault.key >> kFaultTaskShift;
  const size_t d = fault.key & ((1U << kFaultDimBits) - 1);
  for (const task::Record& record : program.records) {
    if (record.seq != seq) continue;
    const auto indexed = indexed_by(record, d);
    if (!indexed || indexed->axis >= program.slot(indexed->slot).rank) break;
    const int64_t extent = program.slot(indexed->slot).dims[indexed->axis];
    return error(Code::kInvalidArgument, describe(program, record), ": index ",
                 int64_t{fault.index}, " on axis ", indexed->axis, " is out of range: expected ",
                 -extent, " to ", extent - 1);
  }
  return error(Code::kInternal, "a kernel says that index ", int64_t{fault.index}, " of task ", seq,
               " is out of range, and that task takes none");
}

Result<void> IndexFaults::make(cudaStream_t stream) {
  stream_ = stream;
  TRY(fault_.reserve(sizeof(IndexFault), "the word for faults"));
  TRY(seen_.reserve(sizeof(unsigned), "the flag for faults"));
  return reset();
}

Result<void> IndexFaults::reset() {
  IndexFault none{kNoFault, 0, nullptr};
  void* seen_on_device = nullptr;
  TRY(check(cudaHostGetDevicePointer(&seen_on_device, seen_.data(), 0), "the flag for faults"));
  none.seen = static_cast<unsigned*>(seen_on_device);
  seen() = 0;
  TRY(check(cudaMemcpyAsync(fault_.data(), &none, sizeof none, cudaMemcpyHostToDevice, stream_),
            "the word for faults"));
  return check(cudaStreamSynchronize(stream_), "the word for faults");
}

Result<void> IndexFaults::take(const task::Program& program) {
  if (seen() == 0) return {};
  IndexFault fault{};
  TRY(check(cudaMemcpyAsync(&fault, fault_.data(), sizeof fault, cudaMemcpyDeviceToHost, stream_),
            "the word for faults"));
  TRY(check(cudaStreamSynchronize(stream_), "the word for faults"));
  TRY(reset());
  return index_error(program, fault);
}

}  // namespace tw::cuda
