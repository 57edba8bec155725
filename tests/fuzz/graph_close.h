// graph_close.h: how far two right answers of one random graph may lie apart. The graph itself says
// so: its reference is run again with every intermediate number moved by about a rounding.
#pragma once

#include <vector>

#include "driver.h"
#include "ir/graph.h"

namespace tw::fuzz {

/// An output, and what another way of rounding makes of it.
struct Expected {
  Tensor value;
  double tolerance = 0;            // absolute, for every finite element
  std::vector<bool> is_uncertain;  // elements that are finite in one way and not in another
  bool is_wild = false;            // roundings change it so much that it says nothing
};

/// An error is one of the reference's: an index out of range, say.
Result<std::vector<Expected>> evaluate_with_tolerance(const ir::Graph& graph,
                                                      const std::vector<Tensor>& inputs);

/// "" or a sentence that says where they differ.
std::string difference(const std::vector<Tensor>& found, const std::vector<Expected>& expected);

}  // namespace tw::fuzz
