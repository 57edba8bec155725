// check.h: a plan whose parts fit together: registers, program numbers, signatures, weights; and,
// on request, the proof of each program.
#pragma once

#include "plan/plan.h"

namespace tw::plan {

Result<void> check_plan(const Plan& plan, bool verify_programs);

}  // namespace tw::plan
