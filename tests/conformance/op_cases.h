// op_cases.h: the cases of all ops as parameters of tests, and the comparison of results. A test
// over every case is
//   TEST_P(EachCase, Sentence) { const ir::OpCase c = make_or_fail(GetParam()); ... }
//   INSTANTIATE_TEST_SUITE_P(Ops, EachCase, testing::ValuesIn(all_cases()), case_name);
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/op_case.h"
#include "ir/op_def.h"

namespace tw::conformance {

struct CaseId {
  const ir::OpDef* op = nullptr;
  size_t index = 0;
  std::string_view text() const { return op->cases[index]; }
};
void PrintTo(const CaseId& id, std::ostream* out);

/// In the order of the table.
std::vector<CaseId> all_cases();
/// "softmax_3".
std::string case_name(const testing::TestParamInfo<CaseId>& info);

/// The case with inputs drawn from a seed of its own; fails the test when it does not parse.
ir::OpCase make_or_fail(const CaseId& id);

/// Every input of the case's node, null where absent. They point into `c`.
std::vector<const Tensor*> node_inputs(const ir::OpCase& c);

/// The outputs by the op's reference (or decomposition); fails the test when there are none.
std::vector<Tensor> evaluate_or_fail(const ir::OpCase& c, bool prefer_decomposition = false);

/// Types and dims equal; integers and bools equal; floats within `n_roundings` roundings of the
/// type, counted on the larger of 1 and the wanted value, NaN and infinities alike.
void expect_close(const Tensor& found, const Tensor& wanted, double n_roundings);

/// Sums of n terms differ from the reference by the roundings of n additions, of random sign.
double roundings_of_sums(const ir::OpCase& c);

/// Distance between 1 and the next number of the type; 0 for integers.
double epsilon(DType dtype);

/// Bodies of control flow cannot be written as text, so such ops have no cases.
bool takes_graphs(const ir::OpDef& op);

}  // namespace tw::conformance
