// doctor.cpp: `tilewright doctor`: what this machine has, and whether a plan can run here (wanted
// and found).
#include <unistd.h>

#include <thread>

#include "api/version.h"
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
  const int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  machine.memory_bytes = page_bytes * ::sysconf(_SC_PHYS_PAGES);
  machine.free_bytes = page_bytes * ::sysconf(_SC_AVPHYS_PAGES);
  machine.threads = static_cast<int64_t>(std::thread::hardware_concurrency());
  return machine;
}

/// Whether the plan at `path` can run here; the failure says what is wanted and what was found.
Result<void> check_plan(const std::string& path, const Machine& machine) {
  plan::Plan plan = TRY(plan::read_plan(path));
  const auto wanted = static_cast<int64_t>(plan.weights.size());
  if (wanted > machine.memory_bytes)
    return error(Code::kIncompatible, "plan '", path, "' wants ", human_bytes(wanted),
                 " for weights, found ", human_bytes(machine.memory_bytes), " of memory");
  runtime::EngineOptions options;
  options.threads = 1;
  TRY(runtime::Engine::make(std::move(plan), options).in(cat("plan '", path, "'")));
  return {};
}

Result<void> run_doctor(const Arguments& arguments, Console& console) {
  const Machine machine = look();
  const std::vector<std::string>& operands = arguments.operands();
  const Result<void> fits = operands.empty() ? Result<void>() : check_plan(operands[0], machine);
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
