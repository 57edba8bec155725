// norm.cuh: layer and rms norm of rows. A team of threads holds a row in registers, so that it is
// read once; the variance is that of the differences from the mean.
#pragma once

#include <norm_params.h>
#include <reduce_team.cuh>

namespace tw::cuda {

/// A row's normalisation, in lanes.
template <class L>
struct Centring {
  L mean, factor;
};

template <bool kLayer, class Row, class L>
TW_DEVICE Centring<L> centring(const Team& team, Row& row, L eps) {
  constexpr int W = Row::W;
  const L n = static_cast<L>(row.n);
  L mean = 0;
  if constexpr (kLayer) {
    L sum = 0;
    row.visit([&](L(&x)[W], int) { sum += sum_chunk(x); });
    mean = team.template reduce<0>(sum, Add{}) / n;
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
  return {mean, 1 / sqrt(squares / n + eps)};
}

template <class Tx, class Tscale, class Tbias, class Ty, class Tmean, class Tinv, bool kLayer,
          bool kWhole>
TW_DEVICE void norm(const NormParams& p) {
  using L = Lane<Tx>;
  using Row = HeldRow<Tx, kWhole>;
  constexpr int W = Row::W;
  let_next_start();
  const Team team(p.team, blockIdx.x);
  const bool is_row = team.row < p.n_rows;
  const Offsets<4> at = locate(p.rows, is_row ? team.row : 0);
  const int n = is_row ? p.n_cols : 0;
  const Tscale* scale = static_cast<const Tscale*>(p.scale);
  const Tbias* bias = static_cast<const Tbias*>(p.bias);

  // Weights come near while the kernel before this one still runs.
  if (p.warm_scale != 0) warm(scale, n, team.rank, team.size);
  if (p.warm_bias != 0) warm(bias, n, team.rank, team.size);
  wait_for_inputs();

  Row row(team, static_cast<const Tx*>(p.x) + at.at[0], p.x_step, n, 0);
  const Centring<L> by = centring<kLayer>(team, row, static_cast<L>(p.eps));
  if (is_row && team.rank == 0) {
    if (p.mean != nullptr) static_cast<Tmean*>(p.mean)[at.at[2]] = from_lane<Tmean>(by.mean);
    if (p.inv_std != nullptr) static_cast<Tinv*>(p.inv_std)[at.at[3]] = from_lane<Tinv>(by.factor);
  }
  const auto finish = [&](L(&x)[W], int i) {
    L y[W];
#pragma unroll
    for (int j = 0; j < W; ++j) y[j] = (x[j] - by.mean) * by.factor;
    if (scale != nullptr) {
      const auto s = load_chunk<W, kWhole>(scale, p.scale_step, i, n);
#pragma unroll
      for (int j = 0; j < W; ++j) y[j] *= static_cast<L>(to_lane(s.v[j]));
    }
    if (bias != nullptr) {
      const auto b = load_chunk<W, kWhole>(bias, p.bias_step, i, n);
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
