// A fused op's decomposition is its definition: where an op has a reference too, the two agree.
#include <cmath>

#include "op_cases.h"

namespace tw::conformance {
namespace {

class EachFusedCase : public testing::TestWithParam<CaseId> {};

std::vector<CaseId> cases_with_both() {
  std::vector<CaseId> cases;
  for (const CaseId& id : all_cases())
    if (id.op->reference != nullptr && id.op->decompose != nullptr) cases.push_back(id);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Ops, EachFusedCase, testing::ValuesIn(cases_with_both()), case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EachFusedCase);

/// A decomposition rounds at each of its steps, and its sums at each term: errors of random sign
/// add up as a square root.
double roundings_of(const ir::OpCase& c) {
  int64_t n_terms = 1;
  for (const Tensor* input : node_inputs(c))
    if (input != nullptr) n_terms = std::max(n_terms, input->count());
  return 8 + std::sqrt(static_cast<double>(n_terms));
}

TEST_P(EachFusedCase, DecomposesToWhatItsReferenceComputes) {
  const ir::OpCase c = make_or_fail(GetParam());
  const std::vector<Tensor> wanted = evaluate_or_fail(c);
  const std::vector<Tensor> found = evaluate_or_fail(c, true);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) expect_close(found[i], wanted[i], roundings_of(c));
}

}  // namespace
}  // namespace tw::conformance
