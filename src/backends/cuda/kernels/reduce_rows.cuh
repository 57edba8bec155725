// reduce_rows.cuh: reductions along x's fastest dim, and any other dims outside it. A row belongs
// to a team of threads, a long one to the blocks of a cluster; which, follows from its length.
#pragma once

#include <reduce_cluster.cuh>
#include <reduce_kinds.cuh>

namespace tw::cuda {

/// The chunks of a row, numbered through all runs, from `first` in steps of `step`.
template <class R, bool kWhole, class T, class L>
TW_DEVICE typename R::State reduce_row(const ReduceRowsParams& p, const T* row, unsigned first,
                                       unsigned step) {
  using State = typename R::State;
  constexpr int W = kChunk<T>;
  State states[W];
#pragma unroll
  for (State& state : states) state = R::start(p.empty);
  const auto take = [&](const Pack<T, W>& chunk, int i, unsigned) {
#pragma unroll
    for (int j = 0; j < W; ++j)
      if (kWhole || i + j < p.n_run)
        states[j] = R::join(states[j], R::of(static_cast<L>(to_lane(chunk.v[j])), i + j));
  };
  const auto in_one_run = [&](unsigned c) { return ChunkPlace<T>{row, static_cast<int>(c) * W}; };
  const auto in_runs = [&](unsigned c) {
    const unsigned run = divide(c, p.run_chunks);
    return ChunkPlace<T>{row + locate(p.runs, run).at[0],
                         static_cast<int>(c - run * p.run_chunks.divisor) * W};
  };
  const unsigned n = p.n_runs * p.run_chunks.divisor;
  if (p.n_runs == 1)
    for_each_chunk<kBatch<State, kWhole, W>, kWhole, T>(first, step, n, p.x_step, p.n_run,
                                                        in_one_run, take);
  else
    for_each_chunk<kWhole ? 2 : 1, kWhole, T>(first, step, n, p.x_step, p.n_run, in_runs, take);
  State all = states[0];
#pragma unroll
  for (int j = 1; j < W; ++j) all = R::join(all, states[j]);
  return all;
}

/// L: the lane that elements are reduced in.
template <ReduceKind kKind, class L, class Tx, class Ty, bool kLast, bool kWhole>
TW_DEVICE void reduce_rows(const ReduceRowsParams& p) {
  using R = Reduction<kKind, L, kLast>;
  using State = typename R::State;
  const auto join = [](const State& a, const State& b) { return R::join(a, b); };
  let_next_start();
  const int rank = p.cluster > 1 ? cluster_rank() : 0;
  const Team team(p.team, blockIdx.x / p.cluster);
  const bool is_row = team.row < p.n_rows;
  const Offsets<2> at = locate(p.rows, is_row ? team.row : 0);
  wait_for_inputs();

  State state = R::start(p.empty);
  if (is_row)
    state = reduce_row<R, kWhole, Tx, L>(p, static_cast<const Tx*>(p.x) + at.at[0],
                                         rank * team.size + team.rank, team.size * p.cluster);
  state = team.template reduce<0>(state, join);
  if (p.cluster > 1) {
    __shared__ State total;
    if (threadIdx.x == 0) total = state;
    sync_cluster();
    for (int b = 1; rank == 0 && threadIdx.x == 0 && b < p.cluster; ++b)
      state = join(state, load_from_block(&total, b));
    sync_cluster();  // blocks stay until they have been read
  }
  const int64_t n = static_cast<int64_t>(p.n_runs) * p.n_run;
  if (is_row && rank == 0 && team.rank == 0)
    static_cast<Ty*>(p.y)[at.at[1]] = convert<Ty>(R::finish(state, n));
}

}  // namespace tw::cuda
