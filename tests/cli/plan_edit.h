// plan_edit.h: plans that are wrong and yet have every checksum right: what a bug or an attacker
// would write.
#pragma once

#include <string>

#include "plan/plan.h"

namespace tw::cli_test {

/// Writes the plan at `from` to `to` with `edit` applied to what it holds.
void edit_plan(const std::string& from, const std::string& to, void (*edit)(plan::Plan&));

/// The bytes of a plan file with all its checksums made right again. The header and the section
/// table must be whole.
std::string mend_checksums(std::string bytes);

}  // namespace tw::cli_test
