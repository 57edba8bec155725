// run.cpp: the loop around the instructions: which elements form a block, where a register lives.
#include <algorithm>
#include <cstring>

#include "backends/cpu/lanes.h"
#include "backends/cpu/points/plan.h"

namespace tw::cpu {
namespace {

using task::Lane;
using task::PointInstr;
using task::PointOp;

constexpr int64_t kBlock = 512;
// Rows of this length are worth an instruction each; shorter ones share a block.
constexpr int64_t kRowsAlone = 96;

/// Part of one window: rows of columns, strides in bytes.
struct Block {
  std::byte* data = nullptr;
  int64_t row_stride = 0, col_stride = 0;
};

/// f(T*) for the element type of a lane.
template <class F>
decltype(auto) with_lane(Lane lane, F&& f) {
  if (lane == Lane::kF32) return f(static_cast<float*>(nullptr));
  if (lane == Lane::kF64) return f(static_cast<double*>(nullptr));
  return f(static_cast<int64_t*>(nullptr));
}

class Interpreter {
 public:
  Interpreter(const PointPlan& plan, const Kernels& kernels, Scratch& scratch, const Dims& origin,
              const LoopNest& nest)
      : plan_(plan), kernels_(kernels), origin_(origin), nest_(nest) {
    const size_t n_registers = plan.program.n_registers;
    const int64_t longest = std::min<int64_t>(kBlock, total(nest));
    auto* memory = scratch.take<int64_t>(static_cast<int64_t>(n_registers) * longest);
    for (size_t i = 0; i < n_registers; ++i) {
      own_[i] = memory + static_cast<int64_t>(i) * longest;
      registers_[i].data = own_[i];
    }
    for (const PointInstr& instr : plan.program.code) {
      if (instr.op != PointOp::kLiteral || !plan.is_literal[instr.dst]) continue;
      fill_literal(instr, longest);
      registers_[instr.dst].uniform = true;
    }
  }

  /// One block: `rows` x `cols` elements whose first is at the given addresses and coordinates.
  void run(const std::array<std::byte*, LoopNest::kMaxWindows>& at, const Dims& coordinates,
           int64_t rows, int64_t cols) {
    rows_ = rows;
    cols_ = cols;
    for (size_t i = 0; i < plan_.program.n_inputs; ++i) load(i, block(at, i));
    place_outputs(at);
    for (size_t i = 0; i < plan_.program.code.size(); ++i) step(i, coordinates);
    store_outputs(at);
  }

 private:
  static int64_t total(const LoopNest& nest) {
    int64_t n = 1;
    for (size_t d = 0; d < nest.rank; ++d) n *= nest.dims[d];
    return n;
  }

  Block block(const std::array<std::byte*, LoopNest::kMaxWindows>& at, size_t w) const {
    const size_t col = nest_.rank - 1;
    return {at[w], col > 0 ? nest_.strides[w][col - 1] : 0, nest_.strides[w][col]};
  }

  bool lies_flat(const Block& b, int64_t element) const {
    return (cols_ == 1 || b.col_stride == element) &&
           (rows_ == 1 || b.row_stride == cols_ * element);
  }

  void load(size_t i, const Block& b) {
    const DType dtype = plan_.inputs[i];
    with_lane(task::lane_of(dtype), [&]<class T>(T*) {
      PointRegister& reg = registers_[i];
      const bool one = (cols_ == 1 || b.col_stride == 0) && (rows_ == 1 || b.row_stride == 0);
      if (!one && is_lane<T>(dtype) && lies_flat(b, sizeof(T)) && plan_.keeps_input[i]) {
        reg = {b.data, false};
        loaded_[i] = nullptr;
        return;
      }
      // The same row again and again, as a bias is: it is still there from the last block.
      const bool repeats = rows_ == 1 || b.row_stride == 0;
      if (plan_.keeps_input[i] && repeats && loaded_[i] == b.data && rows_ <= loaded_rows_[i] &&
          cols_ == loaded_cols_[i]) {
        return;
      }
      reg = {own_[i], one};
      load_rows(dtype, b, static_cast<T*>(reg.data));
      loaded_[i] = repeats ? b.data : nullptr;
      loaded_rows_[i] = rows_;
      loaded_cols_[i] = cols_;
    });
  }

  template <class T>
  void load_rows(DType dtype, const Block& b, T* to) const {
    for (int64_t r = 0; r < rows_; ++r) {
      if (r > 0 && b.row_stride == 0) {
        std::memcpy(to + r * cols_, to, static_cast<size_t>(cols_) * sizeof(T));
      } else {
        load_lane(kernels_, dtype, b.data + r * b.row_stride, b.col_stride, cols_, to + r * cols_);
      }
    }
  }

  void place_outputs(const std::array<std::byte*, LoopNest::kMaxWindows>& at) {
    for (size_t o = 0; o < plan_.outputs.size(); ++o) {
      direct_[o] = false;
      if (!plan_.in_place[o]) continue;
      const Block b = block(at, plan_.program.n_inputs + o);
      const uint8_t reg = plan_.program.outputs[o];
      direct_[o] = lies_flat(b, size_bytes(plan_.outputs[o]));
      registers_[reg] = {direct_[o] ? static_cast<void*>(b.data) : own_[reg], false};
    }
  }

  void step(size_t i, const Dims& coordinates) {
    const PointInstr& instr = plan_.program.code[i];
    const int64_t n = rows_ * cols_;
    if (instr.op == PointOp::kLiteral) {
      if (!plan_.is_literal[instr.dst]) fill_literal(instr, n);
      return;
    }
    if (instr.dst < plan_.program.n_inputs) registers_[instr.dst] = {own_[instr.dst], false};
    if (instr.op == PointOp::kIndex) return fill_index(instr, coordinates);
    const DType type = plan_.operand_type[i];
    if (instr.op == PointOp::kCast) {
      return with_lane(instr.lane, [&]<class T>(T*) { run_cast<T>(instr, type, registers_, n); });
    }
    if (instr.lane == Lane::kF32) return run_f32(kernels_, instr, registers_, n);
    if (instr.lane == Lane::kF64) return run_f64(instr, registers_, n);
    run_i64(instr, type, registers_, n);
  }

  void fill_literal(const PointInstr& instr, int64_t n) {
    void* to = own_[instr.dst];
    registers_[instr.dst] = {to, false};
    if (instr.lane == Lane::kI64) {
      std::fill_n(static_cast<int64_t*>(to), n, instr.imm_int);
    } else if (instr.lane == Lane::kF64) {
      std::fill_n(static_cast<double*>(to), n, instr.imm_double);
    } else {
      std::fill_n(static_cast<float*>(to), n, static_cast<float>(instr.imm_double));
    }
  }

  void fill_index(const PointInstr& instr, const Dims& coordinates) const {
    auto* to = registers_[instr.dst].as<int64_t>();
    const auto axis = static_cast<size_t>(instr.imm_int);
    const int64_t first = coordinates[axis] + origin_[axis];
    const int64_t by_row = axis + 2 == nest_.rank ? 1 : 0, by_col = axis + 1 == nest_.rank ? 1 : 0;
    for (int64_t r = 0; r < rows_; ++r) {
      for (int64_t c = 0; c < cols_; ++c) to[r * cols_ + c] = first + r * by_row + c * by_col;
    }
  }

  void store_outputs(const std::array<std::byte*, LoopNest::kMaxWindows>& at) const {
    for (size_t o = 0; o < plan_.outputs.size(); ++o) {
      if (direct_[o]) continue;
      const Block b = block(at, plan_.program.n_inputs + o);
      const uint8_t reg = plan_.program.outputs[o];
      with_lane(plan_.lane[reg], [&]<class T>(T*) {
        const T* from = registers_[reg].as<T>();
        for (int64_t r = 0; r < rows_; ++r) {
          store_lane(kernels_, plan_.outputs[o], from + r * cols_, cols_, b.data + r * b.row_stride,
                     b.col_stride);
        }
      });
    }
  }

  const PointPlan& plan_;
  const Kernels& kernels_;
  const Dims& origin_;
  const LoopNest& nest_;
  int64_t rows_ = 0, cols_ = 0;
  PointRegisters registers_{};
  std::array<int64_t*, task::kMaxPointRegisters> own_{};
  // By input: the row that its buffer holds.
  std::array<const std::byte*, task::kMaxPointRegisters> loaded_{};
  std::array<int64_t, task::kMaxPointRegisters> loaded_rows_{}, loaded_cols_{};
  std::array<bool, LoopNest::kMaxWindows> direct_{};
};

/// A piece of a long row: pieces of one row are about equal.
int64_t piece_length(int64_t cols) {
  const int64_t pieces = (cols + kBlock - 1) / kBlock;
  return std::min(kBlock, ((cols + pieces - 1) / pieces + 15) / 16 * 16);
}

/// Calls run(at, coordinates, rows, cols) for blocks that cover the last two dims of the nest.
template <class Run>
void for_each_block(const LoopNest& nest, Run&& run) {
  const size_t col = nest.rank - 1;
  const int64_t cols = nest.dims[col];
  const int64_t n_rows = col > 0 ? nest.dims[col - 1] : 1;
  const int64_t width = cols <= kBlock ? cols : piece_length(cols);
  // Long rows go one at a time: operands of one row need no gathering.
  const int64_t height =
      cols < kRowsAlone ? std::min(n_rows, kBlock / std::max<int64_t>(1, cols)) : 1;
  Dims coordinates;
  coordinates.resize(nest.rank);
  nest.for_each(2, [&](const std::array<std::byte*, LoopNest::kMaxWindows>& corner) {
    for (int64_t r = 0; r < n_rows; r += height) {
      for (int64_t c = 0; c < cols; c += width) {
        std::array<std::byte*, LoopNest::kMaxWindows> at = corner;
        for (size_t w = 0; w < nest.n_windows; ++w) {
          at[w] += c * nest.strides[w][col] + (col > 0 ? r * nest.strides[w][col - 1] : 0);
        }
        if (col > 0) coordinates[col - 1] = r;
        coordinates[col] = c;
        run(at, coordinates, std::min(height, n_rows - r), std::min(width, cols - c));
      }
    }
    for (size_t d = col < 1 ? 0 : col - 1; d-- > 0;) {
      if (++coordinates[d] < nest.dims[d]) break;
      coordinates[d] = 0;
    }
  });
}

}  // namespace

void run_points(const PointPlan& plan, const Kernels& kernels, Scratch& scratch, const Dims& origin,
                std::span<const Window> inputs, std::span<const Window> outputs) {
  std::array<Window, LoopNest::kMaxWindows> windows;
  std::copy(inputs.begin(), inputs.end(), windows.begin());
  std::copy(outputs.begin(), outputs.end(), windows.begin() + inputs.size());
  // Coordinates keep their meaning only while dims stay apart.
  const LoopNest nest(outputs[0].dims, std::span(windows).first(inputs.size() + outputs.size()),
                      !plan.uses_index);
  if (nest.empty()) return;
  const ScratchScope scope(scratch);
  Interpreter interpreter(plan, kernels, scratch, origin, nest);
  for_each_block(nest, [&](const auto& at, const Dims& coordinates, int64_t rows, int64_t cols) {
    interpreter.run(at, coordinates, rows, cols);
  });
}

}  // namespace tw::cpu
