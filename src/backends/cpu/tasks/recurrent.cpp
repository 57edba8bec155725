// recurrent: the part of the gates that comes from x is one product for all steps; each step then
// adds the part that comes from the state. Rows of a product are sequences of the batch, so a
// sequence's bits do not depend on its neighbours.
#include <algorithm>

#include "backends/cpu/aligned_floats.h"
#include "backends/cpu/float_rows.h"
#include "backends/cpu/tasks/tasks.h"

namespace tw::cpu {
namespace {

using task::RecurrentTask;
using Kind = RecurrentTask::Kind;

int64_t n_gates(Kind kind) { return kind == Kind::kLstm ? 4 : kind == Kind::kGru ? 3 : 1; }

/// w or r of every direction in panels; empty when they are not immutable.
struct RecurrentPlan : Prepared {
  std::vector<AlignedFloats> w, r;
};

/// Direction `dir` of a [dirs, gates * hidden, k] weight as panels of its transpose.
void pack_direction(const Kernels& kernels, Scratch& scratch, const Window& w, int64_t dir,
                    float* packed) {
  const ScratchScope scope(scratch);
  const Plane plane{
      w.data + dir * w.strides[0], w.dtype, w.dims[1], w.dims[2], w.strides[1], w.strides[2]};
  const Rows<float> rows = rows_of<float>(kernels, scratch, plane);
  kernels.pack_b(rows.data, 1, rows.ld, w.dims[2], w.dims[1], packed);
}

int64_t packed_elems(const Kernels& kernels, const task::SlotInfo& w) {
  return kernels.packed_b_elems(w.dims[2], w.dims[1]);
}

/// One direction of one layer. Arrays are f32, [batch][hidden] unless said.
class Direction {
 public:
  Direction(const RecurrentTask& task, const TaskContext& context, int64_t dir)
      : task_(task), context_(context), kernels_(*context.kernels), dir_(dir) {
    const task::SlotInfo &x = context.slot(task.x.id), &r = context.slot(task.r.id);
    steps_ = x.dims[0];
    batch_ = x.dims[1];
    hidden_ = r.dims[2];
    width_ = n_gates(task.kind) * hidden_;
    is_reverse_ = task.direction == 1 || dir == 1;
  }

  void run() {
    const ScratchScope scope(*context_.scratch);
    Scratch& scratch = *context_.scratch;
    read_lengths();
    read_bias();
    w_ = panels(task_.w, &RecurrentPlan::w);
    r_ = panels(task_.r, &RecurrentPlan::r);
    h_ = state(task_.h0);
    c_ = state(task_.c0);
    peephole_ = peephole();
    multiply_inputs();
    recurrent_ = scratch.take<float>(batch_ * width_);
    reset_h_ = scratch.take<float>(batch_ * hidden_);
    for (int64_t s = 0; s < steps_; ++s) step(s);
    put_final(task_.h.id, h_);
    if (task_.kind == Kind::kLstm) put_final(task_.c.id, c_);
  }

 private:
  void read_lengths() {
    lengths_ = context_.scratch->take<int64_t>(batch_);
    std::fill_n(lengths_, batch_, steps_);
    if (task_.lengths.id == task::kNoSlot) return;
    const Window w = whole_window(context_, task_.lengths.id);
    load_lane(kernels_, w.dtype, w.data, w.strides[0], batch_, lengths_);
    for (int64_t b = 0; b < batch_; ++b) lengths_[b] = std::clamp<int64_t>(lengths_[b], 0, steps_);
  }

  /// Both halves [gates * hidden] of this direction's row of an optional [dirs, n] operand.
  float* row_of(task::In operand, int64_t n) {
    auto* row = context_.scratch->take<float>(n);
    std::fill_n(row, n, 0.0F);
    if (operand.id == task::kNoSlot) return row;
    const Window w = whole_window(context_, operand.id);
    load_lane(kernels_, w.dtype, w.data + dir_ * w.strides[0], w.strides[1], n, row);
    return row;
  }

  void read_bias() {
    input_bias_ = row_of(task_.bias, 2 * width_);
    state_bias_ = input_bias_ + width_;
  }

  const float* peephole() {
    return task_.peephole.id != task::kNoSlot ? row_of(task_.peephole, 3 * hidden_) : nullptr;
  }

  const float* panels(task::In operand, std::vector<AlignedFloats> RecurrentPlan::* which) {
    const auto* plan = static_cast<const RecurrentPlan*>(context_.prepared);
    const std::vector<AlignedFloats>& packed = plan->*which;
    if (!packed.empty()) return packed[static_cast<size_t>(dir_)].data();
    auto* own = context_.scratch->take<float>(packed_elems(kernels_, context_.slot(operand.id)));
    pack_direction(kernels_, *context_.scratch, whole_window(context_, operand.id), dir_, own);
    return own;
  }

  /// An initial state [dirs, batch, hidden], or zeros.
  float* state(task::In operand) {
    auto* to = context_.scratch->take<float>(batch_ * hidden_);
    std::fill_n(to, batch_ * hidden_, 0.0F);
    if (operand.id == task::kNoSlot) return to;
    const Window w = whole_window(context_, operand.id);
    for (int64_t b = 0; b < batch_; ++b) {
      load_lane(kernels_, w.dtype, w.data + dir_ * w.strides[0] + b * w.strides[1], w.strides[2],
                hidden_, to + b * hidden_);
    }
    return to;
  }

  /// inputs_[t][b][gates * hidden] = x w^T + bias of the input side.
  void multiply_inputs() {
    const Window x = whole_window(context_, task_.x.id);
    inputs_ = context_.scratch->take<float>(steps_ * batch_ * width_);
    for (int64_t t = 0; t < steps_; ++t) {
      const ScratchScope scope(*context_.scratch);
      const Plane plane{
          x.data + t * x.strides[0], x.dtype, batch_, x.dims[2], x.strides[1], x.strides[2]};
      const Rows<float> rows = rows_of<float>(kernels_, *context_.scratch, plane);
      kernels_.gemm({.m = batch_,
                     .n = width_,
                     .k = x.dims[2],
                     .a = rows.data,
                     .lda = rows.ld,
                     .b = w_,
                     .bias = input_bias_,
                     .c = inputs_ + t * batch_ * width_,
                     .ldc = width_});
    }
  }

  void step(int64_t s) {
    kernels_.gemm({.m = batch_,
                   .n = width_,
                   .k = hidden_,
                   .a = h_,
                   .lda = hidden_,
                   .b = r_,
                   .bias = state_bias_,
                   .c = recurrent_,
                   .ldc = width_});
    if (task_.kind == Kind::kGru && task_.linear_before_reset == 0) reset_candidates(s);
    for (int64_t b = 0; b < batch_; ++b) {
      const bool lives = s < lengths_[b];
      const int64_t t = is_reverse_ && lives ? lengths_[b] - 1 - s : s;
      if (lives) {
        float* input = inputs_ + (t * batch_ + b) * width_;
        const float* recurrent = recurrent_ + b * width_;
        float *h = h_ + b * hidden_, *c = c_ + b * hidden_;
        if (task_.kind == Kind::kLstm) lstm(input, recurrent, h, c);
        if (task_.kind == Kind::kGru) gru(input, recurrent, h);
        if (task_.kind == Kind::kRnn) rnn(input, recurrent, h);
      }
      put_output(t, b, lives ? h_ + b * hidden_ : nullptr);
    }
  }

  void activate(UnaryFn function, float* x, int64_t n) const {
    if (task_.clip > 0) kernels_.unary.clip(x, x, n, -task_.clip, task_.clip);
    function(x, x, n);
  }
  void add(const float* x, float* y, int64_t n) const { kernels_.binary.add.vv(y, x, y, n); }
  void add_product(const float* a, const float* b, float* y) const {
    for (int64_t i = 0; i < hidden_; ++i) y[i] += a[i] * b[i];
  }

  /// Gates i, o, f, c; peepholes i, o, f.
  void lstm(float* gates, const float* recurrent, float* h, float* c) const {
    const int64_t n = hidden_;
    add(recurrent, gates, 4 * n);
    float *in = gates, *out = gates + n, *forget = gates + 2 * n, *cell = gates + 3 * n;
    if (peephole_ != nullptr) {
      add_product(peephole_, c, in);
      add_product(peephole_ + 2 * n, c, forget);
    }
    activate(kernels_.unary.sigmoid, in, n);
    if (task_.input_forget != 0) {
      for (int64_t i = 0; i < n; ++i) forget[i] = 1.0F - in[i];
    } else {
      activate(kernels_.unary.sigmoid, forget, n);
    }
    activate(kernels_.unary.tanh, cell, n);
    for (int64_t i = 0; i < n; ++i) c[i] = forget[i] * c[i] + in[i] * cell[i];
    if (peephole_ != nullptr) add_product(peephole_ + n, c, out);
    activate(kernels_.unary.sigmoid, out, n);
    kernels_.unary.tanh(c, h, n);
    kernels_.binary.mul.vv(h, out, h, n);
  }

  /// The candidates' recurrent part when the reset gate acts before the product: (r . h) r_h^T.
  void reset_candidates(int64_t s) {
    const int64_t n = hidden_;
    const ScratchScope scope(*context_.scratch);
    auto* reset = context_.scratch->take<float>(n);
    for (int64_t b = 0; b < batch_; ++b) {
      const bool lives = s < lengths_[b];
      const int64_t t = is_reverse_ && lives ? lengths_[b] - 1 - s : s;
      kernels_.binary.add.vv(inputs_ + (t * batch_ + b) * width_ + n, recurrent_ + b * width_ + n,
                             reset, n);
      activate(kernels_.unary.sigmoid, reset, n);
      kernels_.binary.mul.vv(reset, h_ + b * n, reset_h_ + b * n, n);
    }
    // Columns 2 * hidden and on need not begin a panel: all are computed, the last third is kept.
    auto* all = context_.scratch->take<float>(batch_ * width_);
    kernels_.gemm({.m = batch_,
                   .n = width_,
                   .k = n,
                   .a = reset_h_,
                   .lda = n,
                   .b = r_,
                   .bias = state_bias_,
                   .c = all,
                   .ldc = width_});
    for (int64_t b = 0; b < batch_; ++b) {
      std::copy_n(all + b * width_ + 2 * n, n, recurrent_ + b * width_ + 2 * n);
    }
  }

  /// Gates z, r, h.
  void gru(float* gates, const float* recurrent, float* h) const {
    const int64_t n = hidden_;
    float *update = gates, *reset = gates + n, *candidate = gates + 2 * n;
    add(recurrent, gates, 2 * n);
    activate(kernels_.unary.sigmoid, update, n);
    activate(kernels_.unary.sigmoid, reset, n);
    if (task_.linear_before_reset != 0) {
      add_product(reset, recurrent + 2 * n, candidate);
    } else {
      add(recurrent + 2 * n, candidate, n);
    }
    activate(kernels_.unary.tanh, candidate, n);
    for (int64_t i = 0; i < n; ++i) h[i] = (1.0F - update[i]) * candidate[i] + update[i] * h[i];
  }

  void rnn(float* gates, const float* recurrent, float* h) const {
    add(recurrent, gates, hidden_);
    activate(kernels_.unary.tanh, gates, hidden_);
    std::copy_n(gates, hidden_, h);
  }

  /// y[t, dir, b, :] = the state, or zeros past the end of a sequence.
  void put_output(int64_t t, int64_t b, const float* values) {
    if (task_.y.id == task::kNoSlot) return;
    const Window y = whole_window(context_, task_.y.id);
    std::byte* to = y.data + t * y.strides[0] + dir_ * y.strides[1] + b * y.strides[2];
    const float zero = 0;
    for (int64_t i = 0; values == nullptr && i < hidden_; ++i) {
      store_lane(kernels_, y.dtype, &zero, 1, to + i * y.strides[3], 0);
    }
    if (values != nullptr) store_lane(kernels_, y.dtype, values, hidden_, to, y.strides[3]);
  }

  void put_final(task::SlotId id, const float* values) {
    if (id == task::kNoSlot) return;
    const Window w = whole_window(context_, id);
    for (int64_t b = 0; b < batch_; ++b) {
      store_lane(kernels_, w.dtype, values + b * hidden_, hidden_,
                 w.data + dir_ * w.strides[0] + b * w.strides[1], w.strides[2]);
    }
  }

  const RecurrentTask& task_;
  const TaskContext& context_;
  const Kernels& kernels_;
  const int64_t dir_;
  int64_t steps_ = 0, batch_ = 0, hidden_ = 0, width_ = 0;
  bool is_reverse_ = false;
  int64_t* lengths_ = nullptr;
  float *input_bias_ = nullptr, *state_bias_ = nullptr;  // [gates * hidden]
  const float *w_ = nullptr, *r_ = nullptr, *peephole_ = nullptr;
  float *h_ = nullptr, *c_ = nullptr, *inputs_ = nullptr, *recurrent_ = nullptr,
        *reset_h_ = nullptr;
};

}  // namespace

Result<PreparedPtr> prepare(const RecurrentTask& task, const TaskContext& context) {
  if (context.slot(task.x.id).dtype == DType::kF64) {
    return error(Code::kUnsupported,
                 "recurrent: found f64 inputs, expected f32 or a narrower float");
  }
  auto plan = std::make_unique<RecurrentPlan>();
  Scratch scratch;
  const auto pack = [&](task::In operand, std::vector<AlignedFloats>& packed) {
    const task::SlotInfo& slot = context.slot(operand.id);
    if (!slot.immutable() || context.addresses[task::index(operand.id)] == nullptr) return;
    for (int64_t dir = 0; dir < slot.dims[0]; ++dir) {
      packed.emplace_back(packed_elems(*context.kernels, slot));
      pack_direction(*context.kernels, scratch, whole_window(context, operand.id), dir,
                     packed.back().data());
    }
  };
  pack(task.w, plan->w);
  pack(task.r, plan->r);
  return PreparedPtr(std::move(plan));
}

Result<void> run(const RecurrentTask& task, const TaskContext& context, int64_t, int64_t) {
  const int64_t n_dirs = context.slot(task.w.id).dims[0];
  for (int64_t dir = 0; dir < n_dirs; ++dir) Direction(task, context, dir).run();
  return {};
}

}  // namespace tw::cpu
