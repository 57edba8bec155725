// op_case.h: an op's test cases, written as text beside the op.
//   "f32[2,3] - i64{0,2} i64[4]<10 ; axis=1 mode=\"linear\" pads=[0,1]"
// Inputs: TYPE[dims] random in [-1, 1] (floats) or [0, 100) (integers); TYPE[dims]<N random
// integers below N; TYPE[dims]>0 random positive floats in [0.1, 2); TYPE[dims]*S random floats in
// [-S, S]; TYPE{v,...} a 1-d literal; TYPE(v) a 0-d literal; "-" an absent input. After the last
// ';' may stand "outputs=N" among the attributes.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace tw::ir {

struct OpCase {
  Graph graph;  // one node; every present input of the case is a graph input or constant
  std::vector<Tensor> inputs;  // for the graph's inputs, in order
};

/// The case as a graph with a single node of `op`. Literals become constants; random tensors become
/// inputs, drawn from `seed`.
Result<OpCase> make_case(const OpDef& op, std::string_view text, uint64_t seed);

}  // namespace tw::ir
