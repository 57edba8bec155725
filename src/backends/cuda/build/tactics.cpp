#include "backends/cuda/build/tactics.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "backends/cuda/build/measure.h"
#include "backends/cuda/build/timing_cache.h"
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/place.h"
#include "backends/cuda/tasks/attention_plan.h"
#include "backends/cuda/tasks/conv_slide.h"

namespace tw::cuda {
namespace {

/// A way to run a task.
struct Candidate {
  uint8_t variant = 0;
  std::vector<Launch> launches;
};

/// Products and attention: kinds that a variant is chosen for.
bool has_variants(const task::Record& record) {
  return record.kind == task::Tasks::number_of<task::AttentionTask>() ||
         record.kind == task::Tasks::number_of<task::GemmTask>() ||
         record.kind == task::Tasks::number_of<task::ConvTask>();
}

/// The record without what differs between equal tasks: the place of its program.
task::Record without_program(const task::Record& record, task::SideOffset* program) {
  task::Record plain = task::visit(record, [&](auto task) {
    if constexpr (requires { task.epilogue; }) {
      *program = task.epilogue;
      task.epilogue = task::kNoProgram;
    }
    return task::encode(task);
  });
  return plain;
}

/// Equal for tasks that do the same work on equal shapes.
std::string signature(const TaskView& view) {
  task::SideOffset program = task::kNoProgram;
  const task::Record plain = without_program(view.record, &program);
  std::string text = cat(task::kind_name(view.record.kind), " flags ", view.record.flags);
  for (const task::Operand& operand : task::operands(view.record)) {
    const task::SlotInfo& slot = view.slot(operand.slot);
    Dims strides;
    for (int d = 0; d < slot.rank; ++d) strides.push_back(slot.strides[d]);
    text +=
        cat(" ", operand.name, ":", slot.dtype, "[", join(slot.shape(), ","), "]",
            slot.layout == task::Layout::kStrided ? cat("{", join(strides, ","), "}") : "packed");
  }
  text += " fields ";
  for (const std::byte byte : plain.payload) {
    text += "0123456789abcdef"[static_cast<size_t>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<size_t>(byte) & 15];
  }
  if (program != task::kNoProgram) {
    const auto read = task::read_point_program(view.side, program);
    if (read.ok()) text += cat(" then ", task::to_string(read.value()));
  }
  return text;
}

/// Every variant whose launches differ from those before it.
std::vector<Candidate> candidates(const TaskView& view) {
  std::vector<Candidate> found;
  std::set<std::string> seen;
  const auto n_variants = std::max(last_slide_variant(), kAttentionVariants);
  for (int variant = 0; variant <= n_variants; ++variant) {
    task::Record record = view.record;
    record.variant = static_cast<uint8_t>(variant);
    auto launches = make_launches({record, view.slots, view.side});
    if (!launches.ok()) continue;
    std::string identity;
    for (const Launch& launch : launches.value())
      identity += cat(launch.source, join(launch.grid, ","), ";", launch.cluster, ";");
    if (seen.insert(identity).second)
      found.push_back({static_cast<uint8_t>(variant), std::move(launches).take()});
  }
  return found;
}

/// Fills the compiler's memory, on all processors.
void compile_ahead(const std::map<std::string, std::vector<Candidate>>& open) {
  std::set<std::string> sources;
  for (const auto& [task, list] : open)
    for (const Candidate& candidate : list)
      for (const Launch& launch : candidate.launches) sources.insert(launch.source);
  const std::vector<std::string> all(sources.begin(), sources.end());
  std::atomic<size_t> next{0};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back([&] {
      for (size_t i = next++; i < all.size(); i = next++)
        (void)compile_kernel(all[i], "sm_90a");  // a failure comes again when it is used
    });
}

bool compiles(const Candidate& candidate) {
  return std::all_of(
      candidate.launches.begin(), candidate.launches.end(),
      [](const Launch& launch) { return compile_kernel(launch.source, "sm_90a").ok(); });
}

/// The best of a task's candidates; `report` tells all of them, also those that do not compile: one
/// that is never chosen does not fail a build.
Result<Timing> fastest(const TaskView& view, const std::vector<Candidate>& list,
                       std::string& report) {
  std::optional<Timing> best;
  for (const Candidate& candidate : list) {
    if (!compiles(candidate)) {
      report += cat(" ", static_cast<int>(candidate.variant), ":does not compile");
      continue;
    }
    const double hopeless_us = best ? 2 * best->us : 1e30;
    const double us = TRY(measure_us(view, candidate.launches, hopeless_us));
    report += cat(" ", static_cast<int>(candidate.variant), ":", us);
    if (!best || us < best->us) best = Timing{candidate.variant, us};
  }
  return best.value_or(Timing{});
}

}  // namespace

Result<void> choose_variants(std::vector<task::Record>& records, task::Slots slots,
                             std::span<const std::byte> side, const TacticOptions& options,
                             std::vector<std::string>& reports) {
  const std::string device = options.measure ? measuring_device() : "";
  if (device.empty() && options.timing_cache.empty()) return {};
  std::string warning;
  TimingCache cache =
      TimingCache::read(options.timing_cache, cat(device, " kernels ", kernels_version()), warning);
  if (!warning.empty()) reports.push_back(warning);
  std::map<std::string, std::vector<Candidate>> open;
  std::map<std::string, const task::Record*> example;
  for (const task::Record& record : records) {
    if (!has_variants(record)) continue;
    const std::string task = signature({record, slots, side});
    if (cache.find(task) != nullptr || open.contains(task)) continue;
    open[task] = candidates({record, slots, side});
    example[task] = &record;
  }
  if (!device.empty()) {
    compile_ahead(open);
    for (const auto& [task, list] : open) {
      if (list.size() < 2) continue;
      std::string measured;
      const Timing timing = TRY(fastest({*example[task], slots, side}, list, measured));
      cache.add(task, timing);
      reports.push_back(cat("measured ", timing.us, " us with variant ", timing.variant, ": ", task,
                            "; us by variant:", measured));
    }
  }
  for (task::Record& record : records) {
    if (!has_variants(record)) continue;
    const Timing* timing = cache.find(signature({record, slots, side}));
    if (timing != nullptr) record.variant = static_cast<uint8_t>(timing->variant);
  }
  return options.timing_cache.empty() ? Result<void>{} : cache.write(options.timing_cache);
}

}  // namespace tw::cuda
