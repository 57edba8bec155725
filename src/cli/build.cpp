// build.cpp: `tilewright build`: from an ONNX model to a plan file.
#include <filesystem>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/load.h"

namespace tw::cli {
namespace {

Result<void> check_auxiliary_streams(std::string_view value) {
  constexpr std::string_view kNumbers[] = {"0", "1", "2", "3"};
  return check_choice(value, kNumbers);
}

constexpr Option kOptions[] = {
    {.name = "--output",
     .short_name = "-o",
     .value = "PLAN",
     .required = true,
     .help = "the file to write; an older one stays until the new one is whole"},
    kShapesOption,
    kTargetOption,
    kPrecisionOption,
    kIsaOption,
    {.name = "--timing-cache",
     .value = "FILE",
     .help = "of a GPU target: what was measured before; read, and written with what is new"},
    {.name = "--untimed", .help = "of a GPU target: take the cost model's word, measure nothing"},
    {.name = "--max-aux-streams",
     .value = "N",
     .check = check_auxiliary_streams,
     .help = "of a GPU target: streams for branches, beside the main one: 0 to 3 (default: 1)"},
    {.name = "--portable",
     .help =
         "keep weights plain: the plan runs on every instruction set, a little slower to start"},
    {.name = "--workers",
     .value = "W",
     .check = check_positive,
     .help = "cut every operator into tiles for W workers; every size must be given"},
    {.name = "--skip-pass", .value = "NAME", .repeats = true, .help = "leave an optimisation out"},
};

Result<void> run_build(const Arguments& arguments, Console& console) {
  const std::string& model = arguments.operands()[0];
  const std::string output = *arguments.value("--output");
  if (std::filesystem::exists(output) && std::filesystem::equivalent(output, model))
    return error(Code::kInvalidArgument, "the plan would replace the model '", model, "'");
  const std::string command =
      cat("tilewright build ", shell_word(model), " -o ", shell_word(output));
  const plan::Plan plan =
      TRY(api::compile_model(model, build_options(arguments, command, console)));
  console.progress("write", 0.95);
  const WriteGuard guard(output);
  const int64_t bytes = TRY(plan::write_plan(plan, output));
  size_t n_tasks = 0;
  for (const task::Program& program : plan.programs) n_tasks += program.records.size();
  console.print(cat(output, ": ", n_tasks, " tasks, ",
                    human_bytes(static_cast<int64_t>(plan.weights.size())), " of weights, ",
                    human_bytes(bytes), " in all, for ",
                    plan::contract_value(plan.contract, "target"), "\n"));
  return {};
}

}  // namespace

const Command kBuildCommand = {
    .name = "build",
    .summary = "Compiles an ONNX model into a plan.",
    .operands = "MODEL.onnx",
    .min_operands = 1,
    .max_operands = 1,
    .details =
        "A size of the model that --shapes leaves out must be fixed in the model. Without --shapes "
        "an open batch becomes 1.",
    .options = kOptions,
    .example =
        "tilewright build model.onnx -o model.plan --shapes input_ids:NxS,attention_mask:NxS",
    .run = run_build,
};

}  // namespace tw::cli
