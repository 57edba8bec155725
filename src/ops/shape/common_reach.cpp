#include "ops/shape/common_reach.h"

namespace tw::ops {

Result<void> expect_reach(const ir::InferContext& c, int64_t axis) {
  for (size_t d = 0; d < c.shape(1).size(); ++d) {
    const Dim &index = c.shape(1)[d], &x = c.shape(0)[d];
    if (static_cast<int64_t>(d) == axis || !index.is_constant() || !x.is_constant()) continue;
    if (index.constant() > x.constant())
      return error(Code::kInvalidModel, "'index' has size ", index.constant(), " on axis ", d,
                   ", expected at most ", x.constant(), " as 'x'");
  }
  return {};
}

}  // namespace tw::ops
