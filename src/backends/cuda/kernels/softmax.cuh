// softmax.cuh: softmax of rows and its logarithm. A team of threads holds a row in registers, so
// that it is read once. A row with NaN or +inf, or of nothing but -inf, becomes NaN.
#pragma once

#include <softmax_params.h>
#include <reduce_team.cuh>

namespace tw::cuda {

template <class Tx, class Ty, bool kLogarithm, bool kWhole>
TW_DEVICE void softmax(const SoftmaxParams& p) {
  using L = Lane<Tx>;
  using Row = HeldRow<Tx, kWhole>;
  constexpr int W = Row::W;
  let_next_start();
  const Team team(p.team, blockIdx.x);
  const bool is_row = team.row < p.n_rows;
  const Offsets<2> at = locate(p.rows, is_row ? team.row : 0);
  const int n = is_row ? p.n_cols : 0;
  wait_for_inputs();

  // Beyond the end: never the largest, and nothing in the sum.
  Row row(team, static_cast<const Tx*>(p.x) + at.at[0], p.x_step, n, -infinity<L>());
  L top = -infinity<L>();
  row.visit([&](L(&x)[W], int) {
#pragma unroll
    for (int j = 0; j < W; ++j) top = LargerOrNan{}(top, x[j]);
  });
  top = team.template reduce<0>(top, LargerOrNan{});

  L sum = 0;
  const auto exponentials = [&](const L(&x)[W], L(&e)[W]) {
#pragma unroll
    for (int j = 0; j < W; ++j) e[j] = exp(x[j] - top);
  };
  const auto add = [&](L(&x)[W]) {
    L e[W];
    exponentials(x, e);
    sum += sum_chunk(e);
    if constexpr (!kLogarithm) {
#pragma unroll
      for (int j = 0; j < W; ++j) x[j] = e[j];
    }
  };
  row.visit_held([&](L(&x)[W], int, int) { add(x); });
  row.visit_rest([&](L(&x)[W], int) { add(x); });
  sum = team.template reduce<1>(sum, Add{});

  const L last = kLogarithm ? log(sum) : 1 / sum;
  const auto finish = [&](const L(&x)[W], int i) {
    Pack<Ty, W> y;
#pragma unroll
    for (int j = 0; j < W; ++j)
      y.v[j] = from_lane<Ty>(kLogarithm ? x[j] - top - last : x[j] * last);
    store_chunk<W, kWhole>(static_cast<Ty*>(p.y) + at.at[1], p.y_step, i, n, y);
  };
  row.visit_held([&](L(&x)[W], int, int i) { finish(x, i); });
  row.visit_rest([&](L(&x)[W], int i) {
    if constexpr (!kLogarithm) exponentials(x, x);
    finish(x, i);
  });
}

}  // namespace tw::cuda
