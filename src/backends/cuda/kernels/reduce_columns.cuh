// reduce_columns.cuh: reductions whose fastest dim of x is kept. The threads of a block lie along
// the columns and along the rows, the blocks of a cluster along the rows; how many do, follows from
// the number of rows alone, and their parts are joined in order.
#pragma once

#include <reduce_cluster.cuh>
#include <reduce_kinds.cuh>

namespace tw::cuda {

/// Rows `first`, first + step .. of the chunk of columns at i.
template <class R, bool kWhole, class T, class L>
TW_DEVICE void reduce_chunk(const ReduceColumnsParams& p, const T* group, int i, unsigned first,
                            unsigned step, typename R::State (&states)[kChunk<T>]) {
  constexpr int W = kChunk<T>, kFlying = kBatch<typename R::State, kWhole, W>;
  const auto take = [&](const Pack<T, W>& chunk, int, unsigned r) {
#pragma unroll
    for (int j = 0; j < W; ++j)
      states[j] = R::join(states[j], R::of(static_cast<L>(to_lane(chunk.v[j])), r));
  };
  const auto apart = [&](unsigned r) { return ChunkPlace<T>{group + r * p.rows.strides[0][0], i}; };
  const auto nested = [&](unsigned r) { return ChunkPlace<T>{group + locate(p.rows, r).at[0], i}; };
  if (p.rows.rank <= 1)
    for_each_chunk<kFlying, kWhole, T>(first, step, p.n_rows, p.x_step, p.n_columns, apart, take);
  else
    for_each_chunk<kWhole ? 2 : 1, kWhole, T>(first, step, p.n_rows, p.x_step, p.n_columns, nested,
                                              take);
}

template <ReduceKind kKind, class L, class Tx, class Ty, bool kLast, bool kWhole>
TW_DEVICE void reduce_columns(const ReduceColumnsParams& p) {
  using R = Reduction<kKind, L, kLast>;
  using State = typename R::State;
  constexpr int W = kChunk<Tx>;
  __shared__ State parts[kColumnThreads * W];  // (threads_y, threads_x, W)
  let_next_start();
  const int rank = p.cluster > 1 ? cluster_rank() : 0;
  const unsigned block = blockIdx.x / p.cluster, group = divide(block, p.column_blocks);
  const Offsets<2> at = locate(p.groups, group);
  const int width = p.threads_x * W;  // columns of a block
  const int first = static_cast<int>(block - group * p.column_blocks.divisor) * width;
  const int x = static_cast<int>(threadIdx.x) % p.threads_x;
  const int y = static_cast<int>(threadIdx.x) / p.threads_x;
  wait_for_inputs();

  State states[W];
#pragma unroll
  for (State& state : states) state = R::start(p.empty);
  if (first + x * W < p.n_columns)
    reduce_chunk<R, kWhole, Tx, L>(p, static_cast<const Tx*>(p.x) + at.at[0], first + x * W,
                                   rank * p.threads_y + y, p.threads_y * p.cluster, states);
#pragma unroll
  for (int j = 0; j < W; ++j) parts[threadIdx.x * W + j] = states[j];
  __syncthreads();

  // From here a thread has columns of its own.
  const int columns = min(width, p.n_columns - first);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    State state = parts[c];
    for (int part = 1; part < p.threads_y; ++part) state = R::join(state, parts[part * width + c]);
    parts[c] = state;
  }
  if (p.cluster > 1) sync_cluster();
  for (int c = threadIdx.x; rank == 0 && c < columns; c += blockDim.x) {
    State state = parts[c];
    for (int b = 1; b < p.cluster; ++b) state = R::join(state, load_from_block(&parts[c], b));
    static_cast<Ty*>(p.y)[at.at[1] + (first + c) * p.y_step] =
        convert<Ty>(R::finish(state, p.n_rows));
  }
  if (p.cluster > 1) sync_cluster();  // blocks stay until they have been read
}

}  // namespace tw::cuda
