// inspect.cpp: `tilewright inspect`: what is in a plan, read without running it and without the
// machine it is for.
#include <map>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/load.h"

namespace tw::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "--memory",
     .help = "for each program: the arena, and the most bytes alive at one task (no arena can be "
             "smaller)"},
    {.name = "--shapes",
     .value = "NAME:1x3xHxW,...",
     .check = check_shapes,
     .help = "sizes for --memory and --print (default: those the plan was proved with)"},
    {.name = "--print", .help = "every program as text: a line a slot, a line a task"},
    {.name = "--json", .help = "print as JSON"},
};

/// One program at the sizes that are looked at.
struct Sized {
  std::string name;
  std::vector<std::string> symbols;
  std::vector<int64_t> values;
  task::Program program;
};

/// The numbers that --shapes gives to symbols of the plan's inputs.
Result<std::map<std::string, int64_t>> symbol_sizes(const plan::Plan& plan,
                                                    const api::GivenShapes& shapes) {
  std::map<std::string, int64_t> sizes;
  for (const auto& [name, dims] : shapes) {
    const plan::Port* port = nullptr;
    for (const plan::Port& candidate : plan.main.inputs)
      if (candidate.name == name) port = &candidate;
    if (port == nullptr) return error(Code::kInvalidArgument, "the plan has no input '", name, "'");
    if (dims.size() != port->shape.size())
      return error(Code::kInvalidArgument, "input '", name, "' is ", port_type(*port), ", found ",
                   dims.size(), " dims");
    for (size_t d = 0; d < dims.size(); ++d)
      if (const auto symbol = port->shape[d].as_symbol(); symbol && dims[d].size)
        sizes[*symbol] = *dims[d].size;
  }
  return sizes;
}

Result<std::vector<Sized>> sized_programs(const plan::Plan& plan, const api::GivenShapes& shapes) {
  const auto sizes = TRY(symbol_sizes(plan, shapes));
  std::vector<Sized> all;
  for (size_t i = 0; i < plan.programs.size(); ++i) {
    const task::Program& program = plan.programs[i];
    Sized one{i < plan.program_names.size() ? plan.program_names[i] : cat("program ", i),
              program.parametric.symbols, program.parametric.sample, program};
    bool differs = false;
    for (size_t s = 0; s < one.symbols.size(); ++s)
      if (const auto found = sizes.find(one.symbols[s]); found != sizes.end()) {
        differs = differs || one.values[s] != found->second;
        one.values[s] = found->second;
      }
    if (differs)
      one.program = TRY(task::instantiate(program, one.values).in(cat("program '", one.name, "'")));
    all.push_back(std::move(one));
  }
  return all;
}

std::map<std::string, int64_t> tasks_by_kind(const task::Program& program) {
  std::map<std::string, int64_t> counts;
  for (const task::Record& record : program.records)
    ++counts[std::string(task::kind_name(record.kind))];
  return counts;
}

std::string sizes_text(const Sized& sized) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < sized.symbols.size(); ++i)
    parts.push_back(cat(sized.symbols[i], "=", sized.values[i]));
  return parts.empty() ? "" : cat(" at ", join(parts, " "));
}

constexpr std::string_view kStepNames[] = {"run", "bind", "if", "loop", "scan"};

/// How many steps of each kind, bodies included.
void count_steps(const plan::Procedure& procedure, std::map<std::string, int64_t>& counts) {
  for (const plan::Step& step : procedure.steps) {
    ++counts[std::string(kStepNames[step.index()])];
    if (const auto* branch = std::get_if<plan::IfStep>(&step)) {
      count_steps(*branch->then_body, counts);
      count_steps(*branch->else_body, counts);
    }
    if (const auto* loop = std::get_if<plan::LoopStep>(&step)) count_steps(*loop->body, counts);
    if (const auto* scan = std::get_if<plan::ScanStep>(&step)) count_steps(*scan->body, counts);
  }
}

std::string counts_text(const std::map<std::string, int64_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, n] : counts) parts.push_back(cat(n, " ", name));
  return join(parts, ", ");
}

/// The sizes of sections; those that hold the program as a device reads it make up the HSD share.
struct Sections {
  std::vector<plan::SectionSize> all;
  int64_t total_bytes = 0, hsd_bytes = 0;
};

Result<Sections> read_sections(const std::string& path) {
  Sections sections;
  sections.all = TRY(plan::plan_sections(path));
  for (const plan::SectionSize& section : sections.all) {
    sections.total_bytes += section.bytes;
    if (section.name == "hsd") sections.hsd_bytes += section.bytes;
  }
  return sections;
}

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void print_program(const Sized& sized, bool memory, Console& console) {
  const task::Program& program = sized.program;
  console.print(cat("program ", sized.name, sizes_text(sized), ": ", program.records.size(),
                    " tasks, ", program.slots.size(), " slots, ", program.n_counters, " counters, ",
                    program.queues.size(), " queues, arena ", human_bytes(program.arena_bytes),
                    program.is_parametric() ? ", sizes open" : "", "\n"));
  console.print(cat("  ", counts_text(tasks_by_kind(program)), "\n"));
  if (!memory) return;
  const int64_t bound = task::liveness_lower_bound(program);
  console.print(cat(
      "  arena ", grouped(program.arena_bytes), " bytes, alive at one task at most ",
      grouped(bound), ", ratio ",
      bound == 0 ? "-"
                 : fixed(static_cast<double>(program.arena_bytes) / static_cast<double>(bound), 3),
      "\n"));
}

void print_plan(const plan::Plan& plan, const Sections& sections,
                const std::vector<Sized>& programs, bool memory, Console& console) {
  for (const auto& [key, value] : plan.contract) console.print(cat(key, ": ", value, "\n"));
  for (const plan::Port& port : plan.main.inputs)
    console.print(cat("input ", port.name, ": ", port_type(port), "\n"));
  for (const plan::Port& port : plan.main.outputs)
    console.print(cat("output ", port.name, ": ", port_type(port), "\n"));
  std::map<std::string, int64_t> steps;
  count_steps(plan.main, steps);
  console.print(cat("procedure: ", counts_text(steps), "\n"));
  for (const Sized& sized : programs) print_program(sized, memory, console);
  console.print(cat("weights: ", grouped(static_cast<int64_t>(plan.weights.size())), " bytes\n"));
  for (const plan::SectionSize& section : sections.all)
    console.print(cat("section ", section.name, ": ", grouped(section.bytes), " bytes\n"));
  console.print(cat("hsd share: ", fixed(100 * share(sections.hsd_bytes, sections.total_bytes), 2),
                    "% of ", grouped(sections.total_bytes), " bytes\n"));
}

Json ports_json(const std::vector<plan::Port>& ports) {
  Json::Array list;
  for (const plan::Port& port : ports) {
    Json::Array dims;
    for (const Dim& dim : port.shape)
      dims.push_back(dim.is_constant() ? Json(dim.constant()) : Json(to_string(dim)));
    list.push_back(Json::Object{
        {"name", port.name}, {"dtype", dtype_name(port.dtype)}, {"dims_elems", std::move(dims)}});
  }
  return list;
}

Json counts_json(const std::map<std::string, int64_t>& counts) {
  Json::Object object;
  for (const auto& [name, n] : counts) object.emplace_back(name, n);
  return object;
}

Json plan_json(const plan::Plan& plan, const Sections& sections,
               const std::vector<Sized>& programs) {
  Json::Object contract, sizes;
  for (const auto& [key, value] : plan.contract) contract.emplace_back(key, value);
  for (const plan::SectionSize& section : sections.all)
    sizes.emplace_back(cat(section.name, "_bytes"), section.bytes);
  Json::Array list;
  for (const Sized& sized : programs) {
    Json::Object symbols;
    for (size_t i = 0; i < sized.symbols.size(); ++i)
      symbols.emplace_back(sized.symbols[i], sized.values[i]);
    list.push_back(
        Json::Object{{"name", sized.name},
                     {"symbols_elems", std::move(symbols)},
                     {"n_tasks", sized.program.records.size()},
                     {"n_slots", sized.program.slots.size()},
                     {"n_counters", sized.program.n_counters},
                     {"n_queues", sized.program.queues.size()},
                     {"arena_bytes", sized.program.arena_bytes},
                     {"liveness_lower_bound_bytes", task::liveness_lower_bound(sized.program)},
                     {"tasks_by_kind", counts_json(tasks_by_kind(sized.program))}});
  }
  std::map<std::string, int64_t> steps;
  count_steps(plan.main, steps);
  return Json::Object{{"schema_version", 1},
                      {"format_version", plan::kFormatVersion},
                      {"contract", std::move(contract)},
                      {"inputs", ports_json(plan.main.inputs)},
                      {"outputs", ports_json(plan.main.outputs)},
                      {"procedure_steps", counts_json(steps)},
                      {"programs", std::move(list)},
                      {"weights_bytes", plan.weights.size()},
                      {"sections", std::move(sizes)},
                      {"hsd_share", share(sections.hsd_bytes, sections.total_bytes)}};
}

Result<void> run_inspect(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.operands()[0];
  const plan::Plan plan = TRY(plan::read_plan(path));
  const Sections sections = TRY(read_sections(path));
  const std::vector<Sized> programs = TRY(sized_programs(plan, given_shapes(arguments)));
  if (arguments.has("--json")) {
    console.print(plan_json(plan, sections, programs).text());
    return {};
  }
  print_plan(plan, sections, programs, arguments.has("--memory"), console);
  if (arguments.has("--print"))
    for (const Sized& sized : programs)
      console.print(
          cat("\nprogram ", sized.name, sizes_text(sized), "\n", task::print(sized.program)));
  return {};
}

}  // namespace

const Command kInspectCommand = {
    .name = "inspect",
    .summary = "Shows what is in a plan: contract, signature, programs, memory, sections.",
    .operands = "PLAN",
    .min_operands = 1,
    .max_operands = 1,
    .options = kOptions,
    .example = "tilewright inspect model.plan --memory --shapes input_ids:8x128",
    .run = run_inspect,
};

}  // namespace tw::cli
