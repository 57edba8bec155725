// explain.cpp: `tilewright explain`: what the compiler did to a model, and what declined to, in its
// own sentences.
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/load.h"

namespace tw::cli {
namespace {

constexpr Option kOptions[] = {
    kShapesOption,
    kTargetOption,
    kPrecisionOption,
    kIsaOption,
    {.name = "--skip-pass", .value = "NAME", .repeats = true, .help = "leave an optimisation out"},
    {.name = "--json", .help = "print as JSON"},
};

Result<void> run_explain(const Arguments& arguments, Console& console) {
  const std::string& path = arguments.operands()[0];
  const plan::Plan plan =
      TRY(load_plan(path, arguments, cat("tilewright explain ", shell_word(path)), console));
  if (arguments.has("--json")) {
    Json::Array reports(plan.reports.begin(), plan.reports.end());
    console.print(
        Json(Json::Object{{"schema_version", 1}, {"reports", std::move(reports)}}).text());
    return {};
  }
  for (const std::string& sentence : plan.reports) console.print(cat(sentence, "\n"));
  if (plan.reports.empty()) console.print("the plan holds no reports\n");
  return {};
}

}  // namespace

const Command kExplainCommand = {
    .name = "explain",
    .summary = "Says what the compiler did to a model, and what declined.",
    .operands = "PLAN|MODEL.onnx",
    .min_operands = 1,
    .max_operands = 1,
    .options = kOptions,
    .example = "tilewright explain model.plan",
    .run = run_explain,
};

}  // namespace tw::cli
