// common_check.h: what the infer hooks of this folder check alike. Sentences name inputs as the op
// declares them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "ir/contexts.h"

namespace tw::ops {

/// True when the dims differ whatever the symbols stand for.
bool surely_differ(const Dim& a, const Dim& b);

/// Name of input `i` without its mark.
std::string_view input_name(const ir::NodeView& view, size_t i);

/// Fails unless input `i` (when present) has the element type of input `like`.
Result<void> expect_same_type(const ir::InferContext& c, size_t like, size_t i);
Result<void> expect_float(const ir::InferContext& c, size_t i);
/// Fails unless input `i` (when present) has exactly these dims, as far as they are known.
Result<void> expect_shape(const ir::InferContext& c, size_t i, const ir::Shape& expected);

/// Fails unless attribute `name` has the value `supported`: for values that the specification has
/// and this op does not.
Result<void> expect_attr(const ir::NodeView& view, std::string_view name, int64_t supported);

/// "[2,n]" for messages.
std::string shape_text(const ir::Shape& shape);

/// True for the types that gemm and conv tasks multiply in fp32.
bool is_gemm_type(DType dtype);

}  // namespace tw::ops
