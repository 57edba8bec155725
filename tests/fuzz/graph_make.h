// graph_make.h: random legal graphs out of the op table's cases and of the patterns that passes
// look for.
#pragma once

#include <optional>
#include <vector>

#include "driver.h"
#include "ir/contexts.h"
#include "ir/op_case.h"

namespace tw::fuzz {

/// Decisions read from bytes: equal bytes, equal graph. Past the end every decision is the first
/// one, and nothing that is seldom happens.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}
  size_t below(size_t limit);
  bool one_in(size_t n) { return below(n) == n - 1; }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

/// A graph that grows by nodes that are legal where they are put.
class GraphMaker {
 public:
  explicit GraphMaker(Choices& choices);

  /// One node of the table's cases, on values that are there or inputs of its own.
  void add_case();
  /// Nodes in an arrangement that some pass rewrites (graph_patterns.cpp).
  void add_pattern();
  /// Names the outputs: what nothing uses, and a few others. False: the graph is empty.
  bool finish();

  ir::Graph graph;
  std::vector<Tensor> inputs;

 private:
  friend class Patterns;
  ir::ValueId add_input(const Tensor& tensor);
  /// A value that is there; an exact one if asked. Nothing when none fits.
  std::optional<ir::ValueId> existing(DType dtype, const Dims* dims, bool exact);
  bool try_case(const ir::OpCase& made, bool alone);
  void note_exact(const ir::Node& node);
  bool is_exact(ir::ValueId id) const { return exact_[static_cast<size_t>(id)]; }

  Choices& choices_;
  ir::GraphBuilder builder_;
  std::vector<bool> exact_;  // by value: holds no rounding that could differ
  int64_t symbol_size_ = 0;  // dims of this size may be the symbol n; 0: none
};

/// Whether a rounding in an input can change the result by more than a rounding.
bool is_discontinuous(std::string_view op);

}  // namespace tw::fuzz
