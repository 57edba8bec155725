#include "cli/device_report.h"

#include <algorithm>
#include <array>
#include <map>

#include "cli/bench.h"
#include "cli/console.h"
#include "cli/roofline.h"

namespace tw::cli {
namespace {

constexpr int kTaskRuns = 50;
constexpr size_t kShownTasks = 12;

struct TaskRow {
  std::string name, kind;
  double us = 0, floor_us = 0;
  int launches = 0;
};

std::vector<TaskRow> rows_of(const task::Program& program,
                             const std::vector<backends::TaskTime>& times) {
  std::vector<const task::Record*> by_seq(times.size(), nullptr);
  for (const task::Record& record : program.records)
    if (record.seq < by_seq.size()) by_seq[record.seq] = &record;
  std::vector<TaskRow> rows;
  for (const backends::TaskTime& time : times) {
    const task::Record* record = time.seq < by_seq.size() ? by_seq[time.seq] : nullptr;
    if (record == nullptr) continue;
    TaskRow row;
    row.kind = task::kind_name(record->kind);
    row.name = record->op < program.op_names.size() ? program.op_names[record->op] : "";
    row.us = time.us;
    row.floor_us = floor_us(*record, program.slots);
    row.launches = time.launches;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Time, floor and number of tasks by kind.
void print_kinds(const std::vector<TaskRow>& rows, Console& console) {
  std::map<std::string, std::array<double, 3>> kinds;
  for (const TaskRow& row : rows) {
    auto& [us, floor, n] = kinds[row.kind];
    us += row.us;
    floor += row.floor_us;
    n += 1;
  }
  console.print("by kind (us, share of the roofline floor, tasks):\n");
  for (const auto& [kind, sums] : kinds)
    console.print(cat("  ", fixed(sums[0], 1), "  ", fixed(100 * sums[1] / sums[0], 0), " %  ",
                      static_cast<int>(sums[2]), "  ", kind, "\n"));
}

void print_tasks(std::vector<TaskRow> rows, Console& console) {
  std::sort(rows.begin(), rows.end(),
            [](const TaskRow& a, const TaskRow& b) { return a.us > b.us; });
  console.print("slowest tasks (us, share of the roofline floor):\n");
  for (size_t i = 0; i < std::min(rows.size(), kShownTasks); ++i)
    console.print(cat("  ", fixed(rows[i].us, 2), "  ",
                      fixed(100 * rows[i].floor_us / rows[i].us, 0), " %  ", rows[i].kind, "  ",
                      rows[i].name, "\n"));
}

Result<void> write_trace(const std::string& file, const std::vector<TaskRow>& rows) {
  Json::Array events;
  double at = 0;
  for (const TaskRow& row : rows) {
    events.push_back(Json::Object{{"name", row.name.empty() ? row.kind : row.name},
                                  {"cat", row.kind},
                                  {"ph", "X"},
                                  {"pid", 0},
                                  {"tid", 0},
                                  {"ts", at},
                                  {"dur", row.us}});
    at += row.us;
  }
  return write_file(
      file,
      Json(Json::Object{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}).text());
}

}  // namespace

Result<void> report_device(runtime::Context& context, const DeviceReport& options, Console& console,
                           Json::Object& json) {
  const auto* device = context.engine().device();
  if (device == nullptr) return {};
  console.print(cat("device: ", device->description(), "\n"));
  json.emplace_back("device", device->description());
  const auto times = context.time_on_device(options.n_runs + options.n_runs / 10);
  if (!times.ok()) {
    console.print(cat("device time: ", times.error().message, "\n"));
    return {};
  }
  const auto warm = [&](const std::vector<double>& all) {
    return figures_of({all.begin() + options.n_runs / 10, all.end()});
  };
  const Figures figures = warm(times.value().device_us), host = warm(times.value().host_us);
  const backends::RunStats stats = context.session()->stats();
  console.print(cat("device us: median ", fixed(figures.median, 1), ", min ", fixed(figures.min, 1),
                    ", p99 ", fixed(figures.p99, 1), " over ", options.n_runs,
                    " runs; host us to enqueue: ", fixed(host.median, 1), "; ", stats.launches,
                    " launches in one graph, ", human_bytes(context.session()->device_bytes()),
                    " besides weights\n"));
  json.emplace_back("device_median_us", figures.median);
  json.emplace_back("device_min_us", figures.min);
  json.emplace_back("device_p99_us", figures.p99);
  json.emplace_back("device_runs", options.n_runs);
  json.emplace_back("host_enqueue_median_us", host.median);
  json.emplace_back("host_enqueue_p99_us", host.p99);
  json.emplace_back("device_launches", stats.launches);
  const std::vector<TaskRow> rows =
      rows_of(context.last_program(), TRY(context.time_tasks(kTaskRuns)));
  print_kinds(rows, console);
  print_tasks(rows, console);
  Json::Array list;
  for (const TaskRow& row : rows)
    list.push_back(Json::Object{{"kind", row.kind},
                                {"name", row.name},
                                {"us", row.us},
                                {"floor_us", row.floor_us},
                                {"launches", row.launches}});
  json.emplace_back("tasks", std::move(list));
  return options.trace ? write_trace(*options.trace, rows) : Result<void>{};
}

}  // namespace tw::cli
