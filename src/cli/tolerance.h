// tolerance.h: how far a result may lie from the reference before it is wrong.
//
//   bound = eps * sqrt(K) * sqrt(2 ln n) * size
//
// eps: the machine epsilon of the dtype. K: how many terms the longest sum of the layer has (of a
// whole model: times its depth); rounding errors have random signs, so such a sum is off by about
// eps * sqrt(K) of its size. n: the number of elements; the largest of n random errors is about
// sqrt(2 ln n) times the usual one. size: the largest |value| of the reference or of what flows in,
// at least 1: functions like sigmoid round to eps of their range. Values beyond 1e4 are masks
// (-1e9, the lowest float) and say nothing of size. Integers and bools must be equal.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace tw::cli {

struct Difference {
  double largest = 0;  // |found - expected|, over elements that are finite in both
  double bound = 0;
  int64_t element = 0;  // where
  std::string wrong;    // a sentence when types differ or one side is not finite where the other is
  bool ok() const { return wrong.empty() && largest <= bound; }
  /// 1 is just in tolerance.
  double share() const { return bound > 0 ? largest / bound : (largest > 0 ? 1e9 : 0); }
};

/// Terms of the longest sum that `node` computes, from the tensors it reads and writes; 1 for what
/// adds nothing up.
int64_t longest_sum(const ir::Node& node, const std::vector<const Tensor*>& inputs,
                    const std::vector<Tensor>& outputs);

/// `terms`: K of the formula. `sources` give the size beside `expected`; null ones are skipped.
Difference compare(const Tensor& found, const Tensor& expected, double terms,
                   const std::vector<const Tensor*>& sources);

/// "differs by 3.1e-05 at element 17, expected at most 2.2e-06".
std::string to_string(const Difference& difference);

}  // namespace tw::cli
