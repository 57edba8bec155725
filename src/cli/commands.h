// commands.h: the subcommands; each is a file of its own.
#pragma once

#include <span>

#include "cli/args.h"

namespace tw::cli {

extern const Command kBuildCommand;
extern const Command kRunCommand;
extern const Command kBenchCommand;
extern const Command kVerifyCommand;
extern const Command kInspectCommand;
extern const Command kExplainCommand;
extern const Command kDoctorCommand;

/// In the order of the overview.
std::span<const Command* const> commands();

}  // namespace tw::cli
