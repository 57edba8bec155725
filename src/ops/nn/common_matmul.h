// common_matmul.h: what matmul, linear, gemm and the references built on them share.
#pragma once

#include <cstdint>

#include "base/fixed_list.h"
#include "ir/graph.h"
#include "ops/lower.h"

namespace tw::ops {

/// c[m, n] += a[m, k] * b[k, n], all row-major; k ascends for each element, the inner loop runs
/// along n.
template <class T>
void add_product(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k) {
  for (int64_t row = 0; row < m; ++row) {
    T* const to = c + row * n;
    for (int64_t i = 0; i < k; ++i) {
      const T factor = a[row * k + i];
      const T* const from = b + i * n;
      for (int64_t column = 0; column < n; ++column) to[column] += factor * from[column];
    }
  }
}

/// The operands of a numpy product with 1-d operands made matrices: a [batch.., m, k], b [batch..,
/// k, n], y [batch.., m, n].
struct ProductShapes {
  ir::Shape a, b, y;
  ir::Shape result;  // y without the dims that 1-d operands do not have
};
Result<ProductShapes> product_shapes(const ir::Shape& a, const ir::Shape& b);

/// All dims but the last as one: [rows, last].
ir::Shape as_rows(const ir::Shape& shape);

}  // namespace tw::ops
