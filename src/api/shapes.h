// shapes.h: the sizes that a caller fixes or leaves open when a model is compiled: the grammar of
// --shapes, and what it does to an imported graph.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace tw::api {

/// One dim as given: a number binds the model's dim, a word leaves it open; equal words are equal
/// sizes.
struct GivenDim {
  std::optional<int64_t> size;
  std::string word;
};
using GivenShapes = std::map<std::string, std::vector<GivenDim>>;

/// Reads "name:1x3xHxW,other:NxS"; a 0-d input is "name:". An input is given once.
Result<GivenShapes> parse_shapes(std::string_view text);
/// Reads one input's "1x3xHxW".
Result<std::vector<GivenDim>> parse_dims(std::string_view text);

/// The numbers as the importer takes them: -1 where a dim stays open.
std::map<std::string, std::vector<int64_t>> bound_sizes(const GivenShapes& shapes);

/// What open sizes of the model's inputs become: those that `shapes` covers with words stay open,
/// equal words become one symbol; a batch becomes 1 and `note` (may be empty) says so; any other is
/// an error that names it, its input and what to give, `paste` in front.
Result<void> settle_sizes(ir::Graph& graph, const GivenShapes& shapes, const std::string& paste,
                          const std::function<void(std::string_view)>& note);

}  // namespace tw::api
