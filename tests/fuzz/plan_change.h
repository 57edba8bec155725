// plan_change.h: single faults in a plan that is otherwise whole: what a checksum cannot catch.
#pragma once

#include "driver.h"
#include "plan/plan.h"

namespace tw::fuzz {

/// Changes one thing of a program: a record, a slot, a queue, a wait, a patch; or a size wherever
/// it stands, which more often gives another legal program.
void change_program(task::Program& program, Random& random);

/// Changes one thing of a procedure or of a body inside it.
void change_procedure(plan::Procedure& procedure, Random& random);

}  // namespace tw::fuzz
