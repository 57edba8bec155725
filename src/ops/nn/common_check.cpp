#include "ops/nn/common_check.h"

#include "ir/op_def.h"

namespace tw::ops {

bool surely_differ(const Dim& a, const Dim& b) {
  const Dim difference = a - b;
  return difference.is_constant() && difference.constant() != 0;
}

std::string_view input_name(const ir::NodeView& view, size_t i) {
  std::string_view name = view.node().op->inputs[i];
  if (name.ends_with('?')) name.remove_suffix(1);
  return name;
}

Result<void> expect_same_type(const ir::InferContext& c, size_t like, size_t i) {
  if (!c.has(i) || c.in(i).dtype == c.in(like).dtype) return {};
  return error(Code::kInvalidModel, "input '", input_name(c, i), "' is ", c.in(i).dtype,
               ", expected the type of '", input_name(c, like), "', ", c.in(like).dtype);
}

Result<void> expect_float(const ir::InferContext& c, size_t i) {
  if (is_float(c.in(i).dtype)) return {};
  return error(Code::kInvalidModel, "input '", input_name(c, i), "' is ", c.in(i).dtype,
               ", expected a float type");
}

Result<void> expect_shape(const ir::InferContext& c, size_t i, const ir::Shape& expected) {
  if (!c.has(i)) return {};
  const ir::Shape& found = c.shape(i);
  bool same = found.size() == expected.size();
  for (size_t d = 0; same && d < found.size(); ++d) same = !surely_differ(found[d], expected[d]);
  if (same) return {};
  return error(Code::kInvalidModel, "input '", input_name(c, i), "' has dims ", shape_text(found),
               ", expected ", shape_text(expected));
}

Result<void> expect_attr(const ir::NodeView& view, std::string_view name, int64_t supported) {
  const int64_t found = view.attr_int(name);
  if (found == supported) return {};
  return error(Code::kUnsupported, "attribute '", name, "' is ", found, ", only ", supported,
               " is supported");
}

std::string shape_text(const ir::Shape& shape) { return cat("[", join(shape, ","), "]"); }

bool is_gemm_type(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

}  // namespace tw::ops
