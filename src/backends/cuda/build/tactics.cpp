#include "backends/cuda/build/tactics.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "backends/cuda/build/measure.h"
#include "backends/cuda/build/sizes.h"
#include "backends/cuda/build/timing_cache.h"
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/place.h"
#include "backends/cuda/tasks/attention_plan.h"
#include "backends/cuda/tasks/conv_slide.h"
#include "backends/cuda/tasks/stream.h"
#include "task/variants.h"

namespace tw::cuda {
namespace {

// What measuring may take: tasks at sizes, those of the sample among them, and elements of an
// operand at other sizes than the sample's.
constexpr size_t kMostMeasured = 512;
constexpr int64_t kMostElems = int64_t{1} << 26;

/// A way to run a task.
struct Candidate {
  uint8_t variant = 0;
  std::vector<Launch> launches;
};

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

/// Every variant whose launches differ from those before it.
std::vector<Candidate> candidates(const TaskView& view) {
  std::vector<Candidate> found;
  std::set<std::string> seen;
  const auto n_variants =
      std::max({last_slide_variant(), last_stream_variant(), int{kAttentionVariants}});
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

/// Fills the compiler's memory: a failure comes again when it is used.
void compile_ahead(const std::map<std::string, std::vector<Candidate>>& open,
                   const BuildProgress& progress) {
  std::set<std::string> sources;
  for (const auto& [task, list] : open)
    for (const Candidate& candidate : list)
      for (const Launch& launch : candidate.launches) sources.insert(launch.source);
  compile_kernels({sources.begin(), sources.end()}, "sm_90a", [&](double share) {
    if (progress) progress("compiling variants", share);
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
  TaskTimer timer(view);
  for (const Candidate& candidate : list) {
    if (!compiles(candidate)) {
      report += cat(" ", static_cast<int>(candidate.variant), ":does not compile");
      continue;
    }
    const double hopeless_us = best ? 2 * best->us : 1e30;
    const double us = TRY(timer.measure_us(candidate.launches, hopeless_us));
    report += cat(" ", static_cast<int>(candidate.variant), ":", us);
    if (!best || us < best->us) best = Timing{candidate.variant, us};
  }
  return best.value_or(Timing{});
}

/// A task at sizes that its variant is asked for.
struct Asked {
  size_t task = 0;  // of the draft
  std::string signature;
  int64_t elems = 0;  // of its result
  const task::Program* program = nullptr;
  task::Record record;

  TaskView view() const { return {record, program->slots, program->side}; }
};

/// All that is asked for a program: its tasks at the sample's sizes, then at others.
class Questions {
 public:
  Questions(const task::Program& program, const std::vector<task::Draft::Task>& tasks)
      : sample_(program), tasks_(tasks) {
    add(program);
    for (const std::vector<int64_t>& sizes : measured_sizes(program)) {
      auto other = task::instantiate(program, sizes);
      if (!other.ok()) continue;
      others_.push_back(std::move(other).take());
      add(others_.back());
    }
  }
  const std::vector<Asked>& list() const { return list_; }
  bool of_sample(const Asked& asked) const { return asked.program == &sample_; }
  size_t n_left_out() const { return n_left_out_; }

 private:
  void add(const task::Program& program) {
    for (const task::Record& record : program.records) {
      if (!has_variants(record)) continue;
      Asked asked{record.op, "", task::result_elems(record, program.slots), &program, record};
      asked.record.flags = tasks_[record.op].record.flags;
      asked.signature = signature(asked.view());
      if (!of_sample(asked) && !is_wanted(asked)) continue;
      known_.insert(asked.signature);
      list_.push_back(std::move(asked));
    }
  }
  bool is_wanted(const Asked& asked) {
    if (asked.elems == 0) return false;
    for (const task::Operand& operand : task::operands(asked.record)) {
      const task::SlotInfo& slot = asked.view().slot(operand.slot);
      if (slot.space != task::Space::kWeight && slot.count() > kMostElems) return false;
    }
    if (known_.size() < kMostMeasured || known_.contains(asked.signature)) return true;
    ++n_left_out_;
    return false;
  }

  const task::Program& sample_;
  const std::vector<task::Draft::Task>& tasks_;
  std::deque<task::Program> others_;
  std::vector<Asked> list_;
  std::set<std::string> known_;
  size_t n_left_out_ = 0;
};

/// Measures what the cache does not hold.
Result<void> measure_open(const Questions& questions, const BuildProgress& progress,
                          TimingCache& cache, std::vector<std::string>& reports) {
  std::map<std::string, std::vector<Candidate>> open;
  std::map<std::string, const Asked*> example;
  for (const Asked& asked : questions.list()) {
    if (cache.find(asked.signature) != nullptr || open.contains(asked.signature)) continue;
    open[asked.signature] = candidates(asked.view());
    example[asked.signature] = &asked;
  }
  compile_ahead(open, progress);
  double n_begun = 0;
  for (const auto& [task, list] : open) {
    if (progress) progress("measuring variants", n_begun++ / static_cast<double>(open.size()));
    if (list.size() < 2) continue;
    const Asked& asked = *example[task];
    std::string measured;
    const auto timing = fastest(asked.view(), list, measured);
    if (!timing.ok()) {
      if (questions.of_sample(asked)) return timing.error();
      // A size that only the ladder asks for, and that there may be no memory for beside others.
      reports.push_back(cat("not measured: ", task, ": ", timing.error().message));
      continue;
    }
    cache.add(task, timing.value());
    reports.push_back(cat("measured ", timing.value().us, " us with variant ",
                          timing.value().variant, ": ", task, "; us by variant:", measured));
  }
  if (questions.n_left_out() > 0)
    reports.push_back(cat("variants are not measured for ", questions.n_left_out(),
                          " more pairs of a task and a size, at most ", kMostMeasured, " are"));
  return {};
}

/// What the cache does not hold has no choice at that size: any variant is as good.
void set_variants(const Questions& questions, const TimingCache& cache,
                  std::vector<task::Draft::Task>& tasks, std::vector<std::string>& reports) {
  std::vector<std::vector<task::VariantAt>> points(tasks.size());
  for (const Asked& asked : questions.list())
    if (const Timing* timing = cache.find(asked.signature))
      points[asked.task].push_back({asked.elems, static_cast<uint8_t>(timing->variant)});
  for (const Asked& asked : questions.list()) {
    if (!questions.of_sample(asked)) break;
    task::Draft::Task& one = tasks[asked.task];
    std::vector<task::VariantRange> ranges = task::make_ranges(std::move(points[asked.task]));
    if (ranges.empty()) continue;
    one.record.variant = task::variant_at(ranges, 0, asked.elems).value();
    if (ranges.size() == 1) continue;
    reports.push_back(cat(one.name, ": variant by size of the result: ", task::to_string(ranges)));
    one.variants = std::move(ranges);
  }
}

}  // namespace

bool has_variants(const task::Record& record) {
  return record.kind == task::Tasks::number_of<task::AttentionTask>() ||
         record.kind == task::Tasks::number_of<task::GemmTask>() ||
         record.kind == task::Tasks::number_of<task::ConvTask>();
}

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

Result<void> choose_variants(const task::Program& program, std::vector<task::Draft::Task>& tasks,
                             const TacticOptions& options, std::vector<std::string>& reports) {
  const std::string device = options.measure ? measuring_device() : "";
  if (device.empty() && options.timing_cache.empty()) return {};
  std::string warning;
  TimingCache cache =
      TimingCache::read(options.timing_cache, cat(device, " kernels ", kernels_version()), warning);
  if (!warning.empty()) reports.push_back(warning);
  const Questions questions(program, tasks);
  if (!device.empty()) TRY(measure_open(questions, options.progress, cache, reports));
  set_variants(questions, cache, tasks, reports);
  return options.timing_cache.empty() ? Result<void>{} : cache.write(options.timing_cache);
}

}  // namespace tw::cuda
