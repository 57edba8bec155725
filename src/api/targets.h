// targets.h: the machines that this build compiles for.
#pragma once

#include "api/compile_model.h"
#include "planner/target.h"

namespace tw::api {

/// The target that the options name. Fails with a sentence for an unknown name, for one that this
/// build lacks and for a precision that the target does not have.
Result<std::unique_ptr<planner::TargetServices>> make_target(const BuildOptions& options);

}  // namespace tw::api
