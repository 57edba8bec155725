// doctor.cpp: `tilewright doctor`: what this machine has, and whether a plan can run here (wanted
// and found).
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "api/version.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/load.h"
#include "cli/overview.h"

namespace tw::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "--json", .help = "print as JSON"},
};

struct Machine {
  std::string isa_best;
  std::vector<std::string> isas;
  bool bf16_dot_products = false;
  int64_t memory_bytes = 0, free_bytes = 0;
  int64_t threads = 0;
};

Machine look() {
  Machine machine;
  machine.isa_best = cpu::isa_name(cpu::best_isa());
  for (const cpu::Isa isa : cpu::kAllIsas)
    if (cpu::isa_supported(isa)) machine.isas.emplace_back(cpu::isa_name(isa));
  machine.bf16_dot_products = cpu::has_avx512_bf16();
  machine.memory_bytes = int64_t{::sysconf(_SC_PAGESIZE)} * ::sysconf(_SC_PHYS_PAGES);
  machine.free_bytes = available_memory_bytes().value_or(machine.memory_bytes);
  machine.threads = static_cast<int64_t>(std::thread::hardware_concurrency());
  return machine;
}

/// Weights and the largest arena; of a program with open sizes the arena depends on the call.
int64_t wanted_bytes(const plan::Plan& plan) {
  int64_t arena = 0;
  for (const task::Program& program : plan.programs)
    if (!program.is_parametric()) arena = std::max(arena, program.arena_bytes);
  return static_cast<int64_t>(plan.weights.size()) + arena;
}

/// Whether the plan at `path` can run here; the failure says what is wanted and what was found.
Result<void> check_plan(const std::string& path) {
  plan::Plan plan = TRY(plan::read_plan(path));
  TRY(check_memory(wanted_bytes(plan)).in(cat("plan '", path, "': weights and arena")));
  runtime::EngineOptions options;
  options.threads = 1;
  TRY(runtime::Engine::make(std::move(plan), options).in(cat("plan '", path, "'")));
  return {};
}

Result<void> run_doctor(const Arguments& arguments, Console& console) {
  const Machine machine = look();
  const std::vector<std::string>& operands = arguments.operands();
  const Result<void> fits = operands.empty() ? Result<void>() : check_plan(operands[0]);
  if (arguments.has("--json")) {
    Json::Object json{{"schema_version", 1},
                      {"version", api::version()},
                      {"commit", api::commit()},
                      {"isa", machine.isa_best},
                      {"isas", Json::Array(machine.isas.begin(), machine.isas.end())},
                      {"has_bf16_dot_products", machine.bf16_dot_products},
                      {"hardware_threads", machine.threads},
                      {"memory_bytes", machine.memory_bytes},
                      {"memory_free_bytes", machine.free_bytes},
                      {"plan_format_version", plan::kFormatVersion},
                      {"kernel_abi", plan::kKernelAbi}};
    if (!operands.empty()) json.emplace_back("plan_runs_here", fits.ok());
    console.print(Json(std::move(json)).text());
    return fits;
  }
  console.print(version_text());
  console.print(cat("instruction sets: ", join(machine.isas, ", "),
                    machine.bf16_dot_products ? ", bf16 dot products" : "", "\n"));
  console.print(cat("threads: ", machine.threads, "\n"));
  console.print(cat("memory: ", human_bytes(machine.memory_bytes), ", free ",
                    human_bytes(machine.free_bytes), "\n"));
  if (!operands.empty() && fits.ok()) console.print(cat("plan ", operands[0], ": runs here\n"));
  return fits;
}

}  // namespace

const Command kDoctorCommand = {
    .name = "doctor",
    .summary = "Says what this machine has, and whether a plan runs on it.",
    .operands = "[PLAN]",
    .min_operands = 0,
    .max_operands = 1,
    .options = kOptions,
    .example = "tilewright doctor model.plan",
    .run = run_doctor,
};

}  // namespace tw::cli
