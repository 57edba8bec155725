// common_dims.h: reasoning about symbolic sizes where an op clamps, clips or divides. Symbols are
// sizes, so none is negative; using that keeps shapes short ("seq", not "max(0, min(seq, seq +
// 1))") and lets equal shapes compare equal.
#pragma once

#include <string>
#include <vector>

#include "base/dim.h"
#include "base/result.h"
#include "ir/graph.h"

namespace tw::ops {

/// True when `dim` is not negative whatever its symbols stand for; false when that is not known.
bool is_nonnegative(const Dim& dim);

/// The smaller (larger) of two; one of them as it stands when it is known to be.
Dim tight_min(const Dim& a, const Dim& b);
Dim tight_max(const Dim& a, const Dim& b);
/// max(0, dim).
Dim at_least_zero(const Dim& dim);
/// `dim + when_negative` where dim is negative, else `dim`: how indices count from the end.
Dim wrap_negative(const Dim& dim, const Dim& when_negative);

/// The size of a dim that has to be both: a number where one is known. Fails when two numbers
/// differ; `what` names the place.
Result<Dim> same_dim(const Dim& a, const Dim& b, std::string_view what);

/// "[2,n]" for messages.
std::string dims_text(const ir::Shape& shape);

}  // namespace tw::ops
