// points.h: elementwise programs as CUDA C, for the elementwise kernel and for the epilogues of
// gemm, conv and others.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "task/pointwise.h"

namespace tw::cuda {

/// "float", "double" or "int64_t".
std::string_view lane_type(task::Lane lane);

/// The lane of each of the program's outputs, in order.
std::vector<task::Lane> output_lanes(const task::PointProgram& program,
                                     std::span<const task::Lane> input_lanes);

/// The program as a function of one element:
///   template <class At> TW_DEVICE void NAME(At at, L0 r0, L1 r1, .., M0& y0, M1& y1, ..)
/// L and M are the lane types of inputs and outputs; at(axis) gives the element's coordinate as
/// int64_t. The unit includes kernels/points.cuh before it. Fails with a sentence for what has no
/// CUDA form. Integers are taken for signed: where an operand may be u64, give the types.
Result<std::string> point_function(const task::PointProgram& program,
                                   std::span<const task::Lane> input_lanes, std::string_view name);
Result<std::string> point_function(const task::PointProgram& program,
                                   std::span<const DType> input_types, std::string_view name);

/// Whether the program reads coordinates.
bool uses_index(const task::PointProgram& program);

}  // namespace tw::cuda
