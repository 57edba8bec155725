// commands.h: the subcommands; each is a file of its own.
#pragma once

#include <span>

#include "cli/args.h"

namespace tw::cli {

extern const Command kBuildCommand;
extern const Command kRunCommand;
extern const Command kInspectCommand;

/// In the order of the overview.
std::span<const Command* const> commands();

}  // namespace tw::cli
