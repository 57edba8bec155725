// dim_function.h: what the functions in expressions compute, one by one or in a table.
#pragma once

#include <array>

#include "base/dim.h"

namespace tw {

/// The value of a function of these operands, those that it has; nothing on a division by zero.
std::optional<int64_t> apply_function(Dim::Op op, const std::array<int64_t, 3>& operands);

}  // namespace tw
