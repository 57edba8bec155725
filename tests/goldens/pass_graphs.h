// pass_graphs.h: for each pass the smallest graph on which it does what it is for.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "passes/pipeline.h"

namespace tw::goldens {

struct PassGraph {
  const char* name;     // of the golden's file
  const char* meaning;  // its title
  passes::PassFunction run;
  ir::Graph (*make)();
};

std::vector<PassGraph> pass_graphs();

}  // namespace tw::goldens
