#include "ops/nn/common_matmul.h"

#include "ops/elementwise/common_types.h"
#include "ops/nn/common_check.h"

namespace tw::ops {

Result<ProductShapes> product_shapes(const ir::Shape& a, const ir::Shape& b) {
  if (a.empty() || b.empty())
    return error(Code::kInvalidModel, "input '", a.empty() ? "a" : "b",
                 "' has rank 0, expected at least 1");
  ProductShapes shapes{a, b, {}, {}};
  const bool a_is_row = a.size() == 1, b_is_column = b.size() == 1;
  if (a_is_row) shapes.a.insert(shapes.a.begin(), Dim(1));
  if (b_is_column) shapes.b.push_back(Dim(1));
  const Dim& depth = shapes.b[shapes.b.size() - 2];
  if (surely_differ(shapes.a.back(), depth))
    return error(Code::kInvalidModel, "rows of 'a' have ", shapes.a.back(),
                 " elements, columns of 'b' ", depth);
  shapes.y = TRY(broadcast_shapes(ir::Shape(shapes.a.begin(), shapes.a.end() - 2),
                                  ir::Shape(shapes.b.begin(), shapes.b.end() - 2))
                     .in("batch dims"));
  shapes.result = shapes.y;
  shapes.y.push_back(shapes.a[shapes.a.size() - 2]);
  shapes.y.push_back(shapes.b.back());
  if (!a_is_row) shapes.result.push_back(shapes.a[shapes.a.size() - 2]);
  if (!b_is_column) shapes.result.push_back(shapes.b.back());
  return shapes;
}

ir::Shape as_rows(const ir::Shape& shape) {
  return {ir::element_count(ir::Shape(shape.begin(), shape.end() - 1)), shape.back()};
}

}  // namespace tw::ops
