// strided_loop.h: the host half of kernels/elementwise.cuh: from operands with any strides to a
// loop with as few dims as they allow, the widest pieces that their alignment allows, and the text
// and parameters of its kernel. Elementwise, copy and gather tasks are such loops.
#pragma once

#include "backends/cuda/kernels/elementwise_params.h"
#include "backends/cuda/launch.h"

namespace tw::cuda {

struct LoopOperand {
  task::SlotId id = task::kNoSlot;
  std::string_view type;  // of an element, in kernels/base.cuh
  int64_t element_bytes = 0;
  int64_t offset_bytes = 0;  // of the first element, in storage that is aligned to 64
  Dims strides;              // in elements, by dim of the loop; 0 where it repeats
  Dims steps;                // by which addresses may move besides, in elements
  bool is_output = false;
  bool is_bytes = false;  // elements are bytes of something that is only moved
};

/// The operand with its own dims, and repeated to `dims`: aligned at the last dim, dims of 1
/// repeat.
LoopOperand loop_operand(const TaskView& view, task::SlotId id);
LoopOperand loop_operand(const TaskView& view, task::SlotId id, const Dims& dims);
/// "uint8_t" .. "uint64_t": an element of this size that is only moved.
std::string_view bits_type(int64_t element_bytes);

struct StridedLoop {
  Dims dims;                          // at least one; the last is the row
  std::vector<LoopOperand> operands;  // inputs, then outputs

  bool empty() const { return element_count(dims) == 0; }
  int64_t row_stride(size_t k) const { return operands[k].strides.back(); }
};

/// The loop over `dims` in the order in which the first output lies in memory. Dims of 1 are
/// dropped and neighbours that all operands cross in one stride are merged.
StridedLoop make_loop(const Dims& dims, std::vector<LoopOperand> operands);
/// The same with dims as they are, for programs that count.
StridedLoop make_plain_loop(const Dims& dims, std::vector<LoopOperand> operands);
/// A loop over bytes: `operands` lie side by side along the row, the others repeat along it.
void count_in_bytes(StridedLoop& loop, std::initializer_list<size_t> operands);

/// How the loop runs: what its kernel is compiled for, and how many pieces there are.
struct LoopPlan {
  int piece = 1;  // elements
  int outer = 0;  // 0, 1, 3 or 7
  int unroll = 1;
  bool wide = false;  // strides and counts of 64 bits
  int64_t n_pieces = 0, n_rest = 0;

  /// Dims of 1 in front of the loop's own.
  int padding(const StridedLoop& loop) const {
    return outer + 1 - static_cast<int>(loop.dims.size());
  }
};
LoopPlan plan_loop(const StridedLoop& loop);

/// "Along<float, kN>": how a piece of operand k is held.
std::string piece_type(const StridedLoop& loop, size_t k);
/// The kernel that runs the unit's `Work`, on parameters of the template `params`.
std::string loop_kernel(const LoopPlan& plan, std::string_view params);

Divider make_divider(int64_t size);

template <int kOuter, class Stride>
void fill_loop(const StridedLoop& loop, const LoopPlan& plan, LoopParams<kOuter, Stride>& params) {
  const auto first = static_cast<size_t>(plan.padding(loop));
  for (size_t d = 0; d < loop.dims.size(); ++d)
    for (size_t k = 0; k < loop.operands.size(); ++k)
      params.strides[k][first + d] = static_cast<Stride>(loop.operands[k].strides[d]);
  for (size_t d = 0; d < kOuter; ++d)
    params.dims[d] = make_divider(d < first ? 1 : loop.dims[d - first]);
  params.row_pieces = make_divider(loop.dims.back() / plan.piece);
  params.n_pieces = plan.n_pieces;
  params.n_rest = static_cast<int>(plan.n_rest);
}

/// The launch of `source` on parameters of the template Params (LoopParams or made of it), which
/// finish(params) completes.
template <template <int, class> class Params, class Finish>
Launch loop_launch(const StridedLoop& loop, const LoopPlan& plan, const std::string& source,
                   Finish&& finish) {
  const auto make = [&]<class P>(P params) {
    fill_loop(loop, plan, params);
    finish(params);
    return make_launch(source, params);
  };
  const auto make_wide = [&]<int kOuter>() {
    return plan.wide ? make(Params<kOuter, long long>{}) : make(Params<kOuter, int>{});
  };
  Launch launch = plan.outer == 0   ? make_wide.template operator()<0>()
                  : plan.outer == 1 ? make_wide.template operator()<1>()
                  : plan.outer == 3 ? make_wide.template operator()<3>()
                                    : make_wide.template operator()<7>();
  // The addresses stand first in the parameters.
  for (size_t k = 0; k < loop.operands.size(); ++k)
    point_at(launch, k * sizeof(void*), loop.operands[k].id);
  const int64_t per_block = int64_t{kLoopThreads} * plan.unroll;
  launch.threads = kLoopThreads;
  launch.grid[0] =
      static_cast<uint32_t>(std::max<int64_t>(1, (plan.n_pieces + per_block - 1) / per_block));
  return launch;
}

}  // namespace tw::cuda
