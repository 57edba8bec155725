#include "backends/cuda/tasks/strided_loop.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>

namespace tw::cuda {
namespace {

constexpr int64_t kMaxNarrow = 0x7fffffff;
// Fewer pieces than this do not fill the device (132 processors x 2048 threads): one a thread.
constexpr int64_t kManyPieces = 132 * 2048;
// What a thread of a large loop has under way.
constexpr int64_t kBytesInFlight = 64;

size_t first_output(const std::vector<LoopOperand>& operands) {
  size_t k = 0;
  while (k + 1 < operands.size() && !operands[k].is_output) ++k;
  return k;
}

/// Whether every operand crosses dims `outer` and `inner` (of `size`) in one stride.
bool merge(const std::vector<LoopOperand>& operands, size_t outer, size_t inner, int64_t size) {
  return std::all_of(operands.begin(), operands.end(), [&](const LoopOperand& operand) {
    return operand.strides[outer] == operand.strides[inner] * size;
  });
}

/// A piece of `n` elements is one access for each operand that lies along the row.
bool fits(const StridedLoop& loop, int64_t n) {
  const int64_t cols = loop.dims.back();
  if (loop.dims.size() > 1 ? cols % n != 0 : cols < n) return false;
  for (const LoopOperand& operand : loop.operands) {
    if (operand.strides.back() != 1) continue;
    const int64_t bytes = n * operand.element_bytes;
    if (operand.offset_bytes % bytes != 0) return false;
    for (size_t d = 0; d + 1 < loop.dims.size(); ++d)
      if (operand.strides[d] * operand.element_bytes % bytes != 0) return false;
    for (const int64_t step : operand.steps)
      if (step * operand.element_bytes % bytes != 0) return false;
  }
  return true;
}

/// The widest operand along the row moves 16 bytes at once.
int piece_elements(const StridedLoop& loop) {
  int64_t widest = 16;
  bool any = false;
  for (size_t k = 0; k < loop.operands.size(); ++k) {
    if (loop.row_stride(k) != 1) continue;
    widest =
        any ? std::max(widest, loop.operands[k].element_bytes) : loop.operands[k].element_bytes;
    any = true;
  }
  int64_t n = 16 / widest;
  while (n > 1 && !fits(loop, n)) n /= 2;
  return static_cast<int>(n);
}

int unroll_of(const StridedLoop& loop, int piece) {
  int64_t bytes = 0;
  for (size_t k = 0; k < loop.operands.size(); ++k)
    if (!loop.operands[k].is_output && loop.row_stride(k) != 0)
      bytes += piece * loop.operands[k].element_bytes;
  const int64_t wanted = kBytesInFlight / std::max<int64_t>(1, bytes);
  return wanted >= 4 ? 4 : wanted >= 2 ? 2 : 1;
}

}  // namespace

LoopOperand loop_operand(const TaskView& view, task::SlotId id) {
  return loop_operand(view, id, view.slot(id).shape());
}

LoopOperand loop_operand(const TaskView& view, task::SlotId id, const Dims& dims) {
  const task::SlotInfo& slot = view.slot(id);
  LoopOperand operand{.id = id,
                      .type = device_type(slot.dtype),
                      .element_bytes = size_bytes(slot.dtype),
                      .offset_bytes = slot.offset_in_root(),
                      .strides = {},
                      .steps = {},
                      .is_output = false};
  const size_t shift = dims.size() - slot.rank;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool repeats = d < shift || slot.dims[d - shift] == 1;
    operand.strides.push_back(repeats ? 0 : slot.strides[d - shift]);
  }
  return operand;
}

std::string_view bits_type(int64_t element_bytes) {
  return element_bytes == 1   ? "uint8_t"
         : element_bytes == 2 ? "uint16_t"
         : element_bytes == 4 ? "uint32_t"
                              : "uint64_t";
}

StridedLoop make_loop(const Dims& dims, std::vector<LoopOperand> operands) {
  FixedList<size_t, kMaxRank> order;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1) order.push_back(d);
  const LoopOperand& leader = operands[first_output(operands)];
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs(leader.strides[a]) > std::abs(leader.strides[b]);
  });
  StridedLoop loop{{}, operands};
  for (LoopOperand& operand : loop.operands) operand.strides.clear();
  for (size_t i = 0; i < order.size(); ++i) {
    const bool joins = i > 0 && merge(operands, order[i - 1], order[i], dims[order[i]]);
    if (joins)
      loop.dims.back() *= dims[order[i]];
    else
      loop.dims.push_back(dims[order[i]]);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (joins)
        loop.operands[k].strides.back() = operands[k].strides[order[i]];
      else
        loop.operands[k].strides.push_back(operands[k].strides[order[i]]);
    }
  }
  if (!loop.dims.empty()) return loop;
  loop.dims.push_back(1);
  for (LoopOperand& operand : loop.operands) operand.strides.push_back(operand.is_output ? 1 : 0);
  return loop;
}

StridedLoop make_plain_loop(const Dims& dims, std::vector<LoopOperand> operands) {
  if (dims.empty()) return make_loop(dims, std::move(operands));
  StridedLoop loop{dims, std::move(operands)};
  // An output's row of one element has no stride to speak of.
  for (LoopOperand& operand : loop.operands)
    if (operand.is_output && dims.back() == 1) operand.strides.back() = 1;
  return loop;
}

void count_in_bytes(StridedLoop& loop, std::initializer_list<size_t> operands) {
  loop.dims.back() *= loop.operands[*operands.begin()].element_bytes;
  for (const size_t k : operands) {
    LoopOperand& operand = loop.operands[k];
    for (size_t d = 0; d + 1 < loop.dims.size(); ++d) operand.strides[d] *= operand.element_bytes;
    for (int64_t& step : operand.steps) step *= operand.element_bytes;
    operand.element_bytes = 1;
    operand.is_bytes = true;
  }
}

LoopPlan plan_loop(const StridedLoop& loop) {
  LoopPlan plan;
  const size_t outer = loop.dims.size() - 1;
  plan.outer = outer <= 1 ? static_cast<int>(outer) : outer <= 3 ? 3 : 7;
  plan.piece = piece_elements(loop);
  plan.n_pieces = loop.dims.back() / plan.piece;
  plan.n_rest = loop.dims.back() % plan.piece;
  for (size_t d = 0; d < outer; ++d) plan.n_pieces *= loop.dims[d];
  if (plan.n_pieces > kManyPieces) plan.unroll = unroll_of(loop, plan.piece);
  plan.wide = plan.n_pieces > kMaxNarrow;
  for (const LoopOperand& operand : loop.operands)
    for (const int64_t stride : operand.strides)
      plan.wide = plan.wide || std::abs(stride) > kMaxNarrow;
  return plan;
}

std::string piece_type(const StridedLoop& loop, size_t k) {
  if (loop.operands[k].is_bytes) return "Bytes<kN>";
  const int64_t stride = loop.row_stride(k);
  const std::string_view way = stride == 1                                  ? "Along"
                               : stride == 0 && !loop.operands[k].is_output ? "Repeated"
                                                                            : "Strided";
  return cat(way, "<", loop.operands[k].type, ", kN>");
}

std::string loop_kernel(const LoopPlan& plan, std::string_view params) {
  return cat("\nextern \"C\" __global__ void __launch_bounds__(kLoopThreads)\n",
             "    tw_kernel(const __grid_constant__ ", params, "<", plan.outer, ", ",
             plan.wide ? "long long" : "int", "> p) {\n  run_loop<Work, ", plan.piece, ", ",
             plan.unroll, ">(p);\n}\n");
}

Divider make_divider(int64_t size) {
  const auto d = static_cast<uint64_t>(size);
  if (d > kMaxNarrow) return {d, 0, 0};
  const auto shift = static_cast<unsigned>(std::bit_width(std::max<uint64_t>(1, d) - 1));
  const uint64_t multiplier = d == 0 ? 0 : (((uint64_t{1} << shift) - d) << 32) / d + 1;
  return {d, static_cast<unsigned>(multiplier), shift};
}

}  // namespace tw::cuda
