// norm.cuh: layer and rms norm of rows. A team of threads holds a row in registers, so that it is
// read once; the variance is that of the differences from the mean. Where a chunk a thread is the
// whole row (kShort), the weights wait in registers too: what is left to do when the inputs come is
// one trip to memory, two sums over the team and the store.
#pragma once

#include <norm_params.h>
#include <reduce_team.cuh>

namespace tw::cuda {

/// A row's normalisation, in lanes.
template <class L>
struct Centring {
  L mean, factor;
};

TW_DEVICE float inverse_root(float x) { return rsqrtf(x); }
TW_DEVICE double inverse_root(double x) { return 1 / sqrt(x); }

/// `share`: 1 / the length of the row.
template <bool kLayer, class Row, class L>
TW_DEVICE Centring<L> centring(const Team& team, Row& row, L share, L eps) {
  constexpr int W = Row::W;
  L mean = 0;
  if constexpr (kLayer) {
    L sum = 0;
    row.visit([&](L(&x)[W], int) { sum += sum_chunk(x); });
    mean = team.template reduce<0>(sum, Add{}) * share;
  }
  L squares = 0;
  row.visit([&](L(&x)[W], int i) {
    L of[W];
#pragma unroll
    for (int j = 0; j < W; ++j) {
      const L d = x[j] - mean;
      of[j] = row.holds(i, j) ? d * d : 0;
    }
    squares += sum_chunk(of);
  });
  squares = team.template reduce<1>(squares, Add{});
  return {mean, inverse_root(squares * share + eps)};
}

/// A weight's chunk for a thread of a short row. `early`: nothing writes it while the kernels in
/// front still run.
template <int W, bool kWhole, class T>
class HeldWeight {
 public:
  TW_DEVICE HeldWeight(const T* data, int64_t step, int i, int n, bool early)
      : data_(data), step_(step), i_(i), n_(n), late_(data != nullptr && !early) {
    if (data != nullptr && early) chunk_ = load_chunk<W, kWhole>(data, step, i, n);
  }
  TW_DEVICE void load_late() {
    if (late_) chunk_ = load_chunk<W, kWhole>(data_, step_, i_, n_);
  }
  TW_DEVICE const Pack<T, W>& chunk() const { return chunk_; }

 private:
  const T* data_;
  int64_t step_;
  int i_, n_;
  bool late_;
  Pack<T, W> chunk_;
};

template <class Tx, class Tscale, class Tbias, class Ty, class Tmean, class Tinv, bool kLayer,
          bool kWhole, bool kShort>
TW_DEVICE void norm(const NormParams& p) {
  using L = Lane<Tx>;
  using Row = HeldRow<Tx, kWhole, kShort>;
  constexpr int W = Row::W;
  let_next_start();
  const Team team(p.team, blockIdx.x);
  const bool is_row = team.row < p.n_rows;
  const Offsets<4> at = locate(p.rows, is_row ? team.row : 0);
  const int n = is_row ? p.n_cols : 0;
  const L share = L(1) / static_cast<L>(p.n_cols);
  const Tscale* scale = static_cast<const Tscale*>(p.scale);
  const Tbias* bias = static_cast<const Tbias*>(p.bias);

  // Weights come near while the kernel before this one still runs.
  const int first = team.rank * W;
  HeldWeight<W, kWhole, Tscale> held_scale(kShort ? scale : nullptr, p.scale_step, first, n,
                                           p.warm_scale != 0);
  HeldWeight<W, kWhole, Tbias> held_bias(kShort ? bias : nullptr, p.bias_step, first, n,
                                         p.warm_bias != 0);
  if constexpr (!kShort) {
    if (p.warm_scale != 0) warm(scale, n, team.rank, team.size);
    if (p.warm_bias != 0) warm(bias, n, team.rank, team.size);
  }
  wait_for_inputs();

  Row row(team, static_cast<const Tx*>(p.x) + at.at[0], p.x_step, n, 0);
  held_scale.load_late();
  held_bias.load_late();
  const Centring<L> by = centring<kLayer>(team, row, share, static_cast<L>(p.eps));
  if (is_row && team.rank == 0) {
    if (p.mean != nullptr) static_cast<Tmean*>(p.mean)[at.at[2]] = from_lane<Tmean>(by.mean);
    if (p.inv_std != nullptr) static_cast<Tinv*>(p.inv_std)[at.at[3]] = from_lane<Tinv>(by.factor);
  }
  const auto finish = [&](L(&x)[W], int i) {
    L y[W];
#pragma unroll
    for (int j = 0; j < W; ++j) y[j] = (x[j] - by.mean) * by.factor;
    if (scale != nullptr) {
      const auto s = kShort ? held_scale.chunk() : load_chunk<W, kWhole>(scale, p.scale_step, i, n);
#pragma unroll
      for (int j = 0; j < W; ++j) y[j] *= static_cast<L>(to_lane(s.v[j]));
    }
    if (bias != nullptr) {
      const auto b = kShort ? held_bias.chunk() : load_chunk<W, kWhole>(bias, p.bias_step, i, n);
#pragma unroll
      for (int j = 0; j < W; ++j) y[j] += static_cast<L>(to_lane(b.v[j]));
    }
    Pack<Ty, W> stored;
#pragma unroll
    for (int j = 0; j < W; ++j) stored.v[j] = from_lane<Ty>(y[j]);
    store_chunk<W, kWhole>(static_cast<Ty*>(p.y) + at.at[1], p.y_step, i, n, stored);
  };
  row.visit(finish);
}

}  // namespace tw::cuda
