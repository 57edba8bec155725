#include "backends/cuda/graph/program.h"

#include <algorithm>
#include <atomic>

#include "backends/cuda/graph/device.h"

namespace tw::cuda {
namespace {

constexpr uint32_t kDefaultSharedBytes = 48 * 1024;

std::atomic<uint64_t> n_programs{0};

uint32_t queue_of(const task::Program& program, const task::Record& record) {
  const auto place = static_cast<uint32_t>(&record - program.records.data());
  uint32_t queue = 0;
  while (queue + 1 < program.queues.size() && place >= program.queues[queue + 1].first) ++queue;
  return queue;
}

}  // namespace

std::string describe(const task::Program& program, const task::Record& record) {
  return cat("task ", record.seq, " (", task::kind_name(record.kind),
             record.op < program.op_names.size() ? cat(" '", program.op_names[record.op], "'") : "",
             ")");
}

Program::Program(const task::Program& program) : program_(program), id_(++n_programs) {}

Result<Step> Program::make_step(const task::Record& record, const Device& device) const {
  Step step;
  step.record = &record;
  const Place place = place_of(record, program_.slots);
  if (place == Place::kTransfer) {
    if (record.kind != task::Tasks::number_of<task::CopyTask>())
      return error(Code::kCorrupt, "has operands on both sides, which only copies may have");
    const auto copy = task::decode<task::CopyTask>(record);
    step.from = copy.x.id;
    step.to = copy.y.id;
    step.kind = program_.slot(copy.y.id).place > 0 ? Step::Kind::kToDevice : Step::Kind::kToHost;
    return step;
  }
  if (place == Place::kHost) {
    step.kind = Step::Kind::kHost;
    return step;
  }
  for (Launch& launch : TRY(make_launches({record, program_.slots, program_.side}))) {
    Kernel kernel;
    kernel.function = TRY(device.kernel(launch.source));
    if (launch.shared_bytes > kDefaultSharedBytes)
      TRY(check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel.function),
                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(launch.shared_bytes)),
                "shared memory of a kernel"));
    launch.source.clear();
    kernel.launch = std::move(launch);
    step.kernels.push_back(std::move(kernel));
  }
  return step;
}

Result<std::unique_ptr<Program>> Program::make(const task::Program& program, const Device& device) {
  std::unique_ptr<Program> made(new Program(program));
  std::vector<const task::Record*> order;
  for (const task::Record& record : program.records) order.push_back(&record);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->seq < b->seq; });
  for (const task::Record* record : order) {
    if (record->kind == task::Tasks::number_of<task::JoinTask>()) {
      made->steps_.emplace_back().record = record;
    } else {
      auto step = made->make_step(*record, device);
      if (!step.ok()) return std::move(step).in(describe(program, *record)).error();
      made->steps_.push_back(std::move(step).take());
    }
    made->steps_.back().queue = queue_of(program, *record);
    const bool on_host = made->steps_.back().kind == Step::Kind::kHost;
    made->uses_host_ |= made->steps_.back().kind != Step::Kind::kKernels;
    const auto i = static_cast<uint32_t>(made->steps_.size() - 1);
    if (made->segments_.empty() || made->segments_.back().on_host != on_host)
      made->segments_.push_back({on_host, i, i});
    made->segments_.back().end = i + 1;
  }
  return made;
}

}  // namespace tw::cuda
