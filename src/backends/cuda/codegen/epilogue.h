// epilogue.h: what gemm and conv do to their sums, as CUDA C: `struct Epilogue` for
// kernels/epilogue.cuh.
#pragma once

#include "backends/cuda/tasks/gemm_operand.h"

namespace tw::cuda {

/// The operands of an epilogue: result, bias (one element a column) and whatever the program reads.
struct EpilogueOperands {
  task::SlotId out, bias;
  std::array<task::In, 7> extra{};
  task::SideOffset program = task::kNoProgram;
};

struct EpilogueCode {
  std::string text;           // behind the include of epilogue.cuh and `using Params = ..`
  bool needs_points = false;  // it goes behind points.cuh too
  int vector = 1;             // columns at a time
  MatrixOperand out, bias;
  std::vector<MatrixOperand> extras;
  std::vector<task::SlotId> extra_slots;
};

/// At most `max_vector` columns at a time. Fails with a sentence for what has no CUDA form.
Result<EpilogueCode> make_epilogue(const TaskView& view, const EpilogueOperands& operands,
                                   const MatrixDims& dims, int64_t max_vector = 8);

/// Fills out, bias and extra of `params` (one of gemm_params.h with 7 extras), takes off what
/// the kernel's own parameters do not have, and names the slots behind the addresses.
template <class Params>
void finish_params(Launch& launch, Params params, const EpilogueCode& code,
                   const EpilogueOperands& operands) {
  params.out = code.out.params;
  params.bias = code.bias.params;
  point_at(launch, offsetof(Params, out), operands.out);
  point_at(launch, offsetof(Params, bias), operands.bias);
  for (size_t i = 0; i < code.extras.size(); ++i) {
    params.extra[i] = code.extras[i].params;
    point_at(launch, offsetof(Params, extra) + i * sizeof(OperandParams), code.extra_slots[i]);
  }
  const size_t bytes =
      offsetof(Params, extra) + std::max<size_t>(1, code.extras.size()) * sizeof(OperandParams);
  launch.params.resize((bytes + alignof(Params) - 1) / alignof(Params) * alignof(Params));
  std::memcpy(launch.params.data(), &params, launch.params.size());
}

}  // namespace tw::cuda
