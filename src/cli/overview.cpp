#include "cli/overview.h"

#include <png.h>
#include <zlib.h>

#include "api/version.h"
#include "backends/cpu/kernels/isa.h"
#include "cli/commands.h"
#include "plan/plan.h"

namespace tw::cli {
namespace {

constexpr const Command* kCommands[] = {&kBuildCommand,  &kRunCommand,     &kBenchCommand,
                                        &kVerifyCommand, &kInspectCommand, &kExplainCommand,
                                        &kDoctorCommand};

}  // namespace

std::span<const Command* const> commands() { return kCommands; }

std::string overview_text() {
  std::string out =
      "usage: tilewright COMMAND [arguments]\n\nCompiles trained models into plans and runs "
      "them.\n\ncommands:\n";
  for (const Command* command : commands()) {
    std::string line = cat("  ", command->name);
    line.resize(12, ' ');
    out += cat(line, command->summary, "\n");
  }
  out +=
      "\noptions:\n  --version   print version, commit, instruction set and libraries\n  --help    "
      "  print this text; behind a command: that command's\n"
      "\nexit codes: 0 done, 1 failed (one sentence on stderr), 2 called wrongly, 130 interrupted\n"
      "environment: NO_COLOR turns colour off\n"
      "\nexample:\n  tilewright build model.onnx -o model.plan\n  tilewright run model.plan "
      "--input random\n";
  return out;
}

std::string version_text() {
  return cat("tilewright ", api::version(), " (commit ", api::commit(), ")\n",               //
             "plan format ", plan::kFormatVersion, ", kernel abi ", plan::kKernelAbi, "\n",  //
             "cpu: ", cpu::isa_name(cpu::best_isa()), cpu::has_avx512_bf16() ? " with bf16" : "",
             "\n",                             //
             "compiler: ", __VERSION__, "\n",  //
             "libraries: zlib ", zlibVersion(), ", libpng ", PNG_LIBPNG_VER_STRING, "\n");
}

}  // namespace tw::cli
