// gemm.cuh: c = epilogue(a b^T), tile by tile, for gemm and for convolution as a product: a loader
// an operand (gemm_loaders.cuh), sums in registers, the epilogue from shared memory.
//
// The order of a sum is fixed by the weight: K is cut into `slices` of whole tiles of K; each slice
// is summed from zero, ascending; the slices are added ascending. Who computes a slice is the tile
// configuration's business:
//   Slicing::kOne      there is one slice
//   Slicing::kSerial   a block computes all of them, one after another
//   Slicing::kCluster  the blocks of a cluster compute one each, and a share of the rows is added
//   up,
//                      finished and stored by each of them
//
// Shared memory: a ring of kStages pairs of tiles; then, in the same place, the sums of the tile.
//   wait<kStages - 2> + __syncthreads: tile i is there, and everyone is done with tile i - 1
//   __syncthreads after the loop:      the ring may be overwritten with sums
//   cluster barrier 1:                 the sums of all blocks of the cluster are there
//   cluster barrier 2:                 no block of the cluster reads this one's sums any more
#pragma once

enum class Slicing {
  kOne,
  kSerial,
  kCluster
};

/// What a kernel of this family is specialised on beside its operands.
struct GemmConfig {
  int rows, cols;        // of a tile
  int warps_m, warps_n;  // that share it
  int stages;            // of the ring
  Slicing slicing;
  int cluster;  // blocks, where slicing is kCluster
  int batch_dims;
  int vector;  // columns that the epilogue handles at a time
  TW_DEVICE constexpr int threads() const { return 32 * warps_m * warps_n; }
  TW_DEVICE constexpr int stage_bytes() const { return (rows + cols) * kRowBytes; }
  /// Floats from a row of sums to the next: 8 modulo 32 makes the stores of fragments free of
  /// conflicts.
  TW_DEVICE constexpr int sums_pitch() const { return cols + 8; }
};

/// The sums of a warp's part of a tile, by the tensor core: fp16, bf16, or fp32 rounded to tf32.
template <class T, GemmConfig kCfg>
class TensorSums {
 public:
  TW_DEVICE TensorSums() {
    const int lane = threadIdx.x % 32, swizzle = lane % 8;
    a_row_ = (first_row() + lane % 16) * kRowBytes + ((lane / 16 ^ swizzle) << 4);
    b_row_ = (first_col() + lane % 8 + lane / 16 * 8) * kRowBytes + ((lane / 8 % 2 ^ swizzle) << 4);
    clear();
  }
  TW_DEVICE void clear() {
#pragma unroll
    for (auto& row : sums_)
#pragma unroll
      for (auto& tile : row)
#pragma unroll
        for (float& sum : tile) sum = 0;
  }
  TW_DEVICE void add(const TensorSums& other) {
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int j = 0; j < kN; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) sums_[i][j][e] += other.sums_[i][j][e];
  }

  /// Adds one tile of K: a step of the tensor core is two pieces.
  TW_DEVICE void multiply(uint32_t a_tile, uint32_t b_tile) {
#pragma unroll
    for (int step = 0; step < kPieces / 2; ++step) {
      uint32_t a[kM][4], b[kN / 2][4];
#pragma unroll
      for (int i = 0; i < kM; ++i) {
        ldmatrix_x4(a[i], (a_tile + a_row_ + i * 16 * kRowBytes) ^ (step << 5));
#pragma unroll
        for (uint32_t& x : a[i]) Mma<T>::round(x);
      }
#pragma unroll
      for (int j = 0; j < kN / 2; ++j) {
        ldmatrix_x4(b[j], (b_tile + b_row_ + j * 16 * kRowBytes) ^ (step << 5));
#pragma unroll
        for (uint32_t& x : b[j]) Mma<T>::round(x);
      }
#pragma unroll
      for (int i = 0; i < kM; ++i)
#pragma unroll
        for (int j = 0; j < kN; ++j)
          Mma<T>::add(sums_[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }

  TW_DEVICE void store(uint32_t to) const {
    const int lane = threadIdx.x % 32;
    to += ((first_row() + lane / 4) * kCfg.sums_pitch() + first_col() + lane % 4 * 2) * 4;
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int j = 0; j < kN; ++j) {
        const uint32_t at = to + (i * 16 * kCfg.sums_pitch() + j * 8) * 4;
        const float(&s)[4] = sums_[i][j];
        store_shared_8(at, {s[0], s[1]});
        store_shared_8(at + 8 * kCfg.sums_pitch() * 4, {s[2], s[3]});
      }
  }

 private:
  static constexpr int kWarpRows = kCfg.rows / kCfg.warps_m, kWarpCols = kCfg.cols / kCfg.warps_n;
  static constexpr int kM = kWarpRows / 16, kN = kWarpCols / 8;
  static_assert(kWarpRows % 16 == 0 && kWarpCols % 16 == 0);
  static TW_DEVICE int first_row() { return threadIdx.x / 32 / kCfg.warps_n * kWarpRows; }
  static TW_DEVICE int first_col() { return threadIdx.x / 32 % kCfg.warps_n * kWarpCols; }
  float sums_[kM][kN][4];  // (M_TILE, N_TILE, FRAGMENT)
  uint32_t a_row_, b_row_;
};

/// The same in fp32 throughout. Lane l holds rows l / 8, l / 8 + 4, .. and columns l % 8, l % 8 +
/// 8,
/// ..: neighbouring lanes read neighbouring rows of the tiles.
template <class T, GemmConfig kCfg>
class PlainSums {
 public:
  TW_DEVICE PlainSums() { clear(); }
  TW_DEVICE void clear() {
#pragma unroll
    for (auto& row : sums_)
#pragma unroll
      for (float& sum : row) sum = 0;
  }
  TW_DEVICE void add(const PlainSums& other) {
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int j = 0; j < kN; ++j) sums_[i][j] += other.sums_[i][j];
  }

  TW_DEVICE void multiply(uint32_t a_tile, uint32_t b_tile) {
#pragma unroll 2
    for (int piece = 0; piece < kPieces; ++piece) {
      float4 b[kN];
#pragma unroll
      for (int j = 0; j < kN; ++j) b[j] = load_shared_16(b_tile + piece_offset(col(j), piece));
#pragma unroll
      for (int i = 0; i < kM; ++i) {
        const float4 a = load_shared_16(a_tile + piece_offset(row(i), piece));
#pragma unroll
        for (int j = 0; j < kN; ++j) {
          float& sum = sums_[i][j];
          sum = fmaf(a.x, b[j].x, sum);
          sum = fmaf(a.y, b[j].y, sum);
          sum = fmaf(a.z, b[j].z, sum);
          sum = fmaf(a.w, b[j].w, sum);
        }
      }
    }
  }

  TW_DEVICE void store(uint32_t to) const {
#pragma unroll
    for (int i = 0; i < kM; ++i)
#pragma unroll
      for (int j = 0; j < kN; ++j)
        store_shared_4(to + (row(i) * kCfg.sums_pitch() + col(j)) * 4, sums_[i][j]);
  }

 private:
  static constexpr int kWarpRows = kCfg.rows / kCfg.warps_m, kWarpCols = kCfg.cols / kCfg.warps_n;
  static constexpr int kM = kWarpRows / 4, kN = kWarpCols / 8;
  static TW_DEVICE int row(int i) {
    return threadIdx.x / 32 / kCfg.warps_n * kWarpRows + threadIdx.x % 32 / 8 + i * 4;
  }
  static TW_DEVICE int col(int j) {
    return threadIdx.x / 32 % kCfg.warps_n * kWarpCols + threadIdx.x % 8 + j * 8;
  }
  float sums_[kM][kN];
};

/// Which tile a block computes, of which batch, and its part of K.
template <GemmConfig kCfg>
struct Place {
  uint32_t batch;
  int row, col;  // of the tile's first element
  int slice;

  template <class Params>
  TW_DEVICE Place(const Params& p) {
    constexpr uint32_t kBlocks = kCfg.slicing == Slicing::kCluster ? kCfg.cluster : 1;
    const uint32_t index = blockIdx.x / kBlocks;
    slice = static_cast<int>(blockIdx.x % kBlocks);
    const uint32_t tiles_m = p.tiles_m, tiles_n = p.tiles_n, tiles = tiles_m * tiles_n;
    batch = kCfg.batch_dims > 0 ? index / tiles : 0;
    const uint32_t tile = index - batch * tiles;
    // Down columns of at most kGroup tiles: blocks that run together share rows and columns in the
    // L2.
    constexpr uint32_t kGroup = 8;
    const uint32_t group = tile / (kGroup * tiles_n);
    const uint32_t height = min(kGroup, tiles_m - group * kGroup);
    const uint32_t in_group = tile - group * kGroup * tiles_n;
    row = static_cast<int>(group * kGroup + in_group % height) * kCfg.rows;
    col = static_cast<int>(in_group / height) * kCfg.cols;
  }
};

/// Calls load of both kinds of loader.
template <class Loader, class Params>
TW_DEVICE void load_tile(Loader& loader, const Params& p, uint32_t tile) {
  if constexpr (requires { loader.load(tile); })
    loader.load(tile);
  else
    loader.load(p, tile);
}

/// Sums of this block's slices; some of the ring's copies may still be on their way.
template <GemmConfig kCfg, class Sums, class LoadA, class LoadB, class Batch, class Params>
TW_DEVICE Sums sum_tile(const Params& p, const Batch& batch, const Place<kCfg>& place,
                        uint32_t ring, void* table) {
  constexpr bool kCluster = kCfg.slicing == Slicing::kCluster;
  constexpr bool kAsync = requires { Sums::kAsync; };  // products run beside the loads (wgmma.cuh)
  const auto begin_of = [&](int slice) { return slice * p.k_tiles / p.slices; };
  const int begin = kCluster ? begin_of(place.slice) : 0;
  const int end = kCluster ? begin_of(place.slice + 1) : p.k_tiles;
  LoadA a(p, p.a, batch, {place.row, p.m, begin, end}, table);
  LoadB b(p, p.b, batch, {place.col, p.n, begin, end}, nullptr);
  if constexpr (requires { LoadA::kTable; }) __syncthreads();
  const auto a_tile = [&](int stage) { return ring + stage * kCfg.stage_bytes(); };
  const auto b_tile = [&](int stage) { return a_tile(stage) + kCfg.rows * kRowBytes; };
  constexpr int kAhead = kCfg.stages - 1;

  const auto fill_b = [&] {
#pragma unroll 1
    for (int i = 0; i < kAhead; ++i)
      if (begin + i < end) load_tile(b, p, b_tile(i));
  };
  if (p.b_is_weight != 0) {
    fill_b();
    if constexpr (requires { b.prefetch(0); })
      if (p.prefetch_weights != 0 && place.row == 0) b.prefetch(end - begin - kAhead);
  }
  wait_for_inputs();
  if (p.b_is_weight == 0) fill_b();
#pragma unroll 1
  for (int i = 0; i < kAhead; ++i) {
    if (begin + i < end) load_tile(a, p, a_tile(i));
    cp_async_commit();
  }

  Sums sums;
  [[maybe_unused]] Sums total;
  [[maybe_unused]] int slice = 0, slice_end = kCfg.slicing == Slicing::kSerial ? begin_of(1) : 0;
  int stage = 0, free_stage = kAhead;
#pragma unroll 1
  for (int tile = begin; tile < end; ++tile) {
    cp_async_wait<kAhead - 1>();
    if constexpr (kAsync) {
      sums.finish();  // of tile - 1, whose place is filled below
      fence_for_wgmma();
    }
    __syncthreads();
    if constexpr (kAsync) sums.multiply(a_tile(stage), b_tile(stage));
    if (tile + kAhead < end) {
      load_tile(a, p, a_tile(free_stage));
      load_tile(b, p, b_tile(free_stage));
    }
    cp_async_commit();
    if constexpr (!kAsync) sums.multiply(a_tile(stage), b_tile(stage));
    stage = stage + 1 < kCfg.stages ? stage + 1 : 0;
    free_stage = free_stage + 1 < kCfg.stages ? free_stage + 1 : 0;
    if constexpr (kCfg.slicing == Slicing::kSerial) {
      if (tile + 1 == slice_end) {
        if constexpr (kAsync) sums.finish();
        total.add(sums);
        sums.clear();
        ++slice;
        slice_end = begin_of(slice + 1);
      }
    }
  }
  if constexpr (kAsync) sums.finish();
  if constexpr (kCfg.slicing == Slicing::kSerial)
    return total;
  else
    return sums;
}

/// kN sums of a row of the tile from here on: this block's own, or those of the cluster's blocks.
template <GemmConfig kCfg, int kN>
TW_DEVICE void read_sums(uint32_t at, float (&sums)[kN]) {
  constexpr bool kCluster = kCfg.slicing == Slicing::kCluster;
#pragma unroll
  for (float& sum : sums) sum = 0;
#pragma unroll
  for (int rank = 0; rank < (kCluster ? kCfg.cluster : 1); ++rank) {
    const uint32_t from = kCluster ? cluster_address(at, rank) : at;
    if constexpr (kN % 4 == 0) {
#pragma unroll
      for (int i = 0; i < kN; i += 4) {
        const float4 part = kCluster ? load_cluster_16(from + i * 4) : load_shared_16(from + i * 4);
        sums[i] += part.x, sums[i + 1] += part.y, sums[i + 2] += part.z, sums[i + 3] += part.w;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kN; ++i)
        sums[i] += kCluster ? load_cluster_4(from + i * 4) : load_shared_4(from + i * 4);
    }
  }
}

template <GemmConfig kCfg, class Sums, class LoadA, class LoadB, class Epilogue, class Params>
TW_DEVICE void run_gemm(const Params& p) {
  extern __shared__ __align__(1024) uint8_t memory[];
  constexpr bool kCluster = kCfg.slicing == Slicing::kCluster;
  constexpr int kBlockRows = kCluster ? (kCfg.rows + kCfg.cluster - 1) / kCfg.cluster : kCfg.rows;
  constexpr int kVectors = kCfg.cols / kCfg.vector, kStep = kCfg.threads() / kVectors;
  static_assert(kCfg.threads() % kVectors == 0);
  let_next_start();
  const uint32_t ring = shared_address(memory);
  const Place<kCfg> place(p);
  const Batch<kCfg.batch_dims> batch(p.batch_dims, place.batch);
  const int in_tile = static_cast<int>(threadIdx.x) % kVectors * kCfg.vector;
  const int col = place.col + in_tile;
  Epilogue::prefetch(p, col);
  const Sums sums =
      sum_tile<kCfg, Sums, LoadA, LoadB>(p, batch, place, ring, memory + p.table_offset);

  // This block finishes rows [first, last) of the tile. What they need besides the sums is on its
  // way while the sums change hands.
  const int first = kCluster ? place.slice * kBlockRows : 0;
  const int last = min(min(first + kBlockRows, kCfg.rows), p.m - place.row);
  int row = first + static_cast<int>(threadIdx.x) / kVectors;
  bool busy = col < p.n && row < last;
  Epilogue epilogue(p, batch, busy ? col : 0);
  if (busy) epilogue.load(place.row + row);
  cp_async_wait<0>();
  __syncthreads();
  sums.store(ring);
  if constexpr (kCluster) {
    cluster_arrive();
    cluster_wait();
    if (!busy) cluster_arrive();
  } else {
    __syncthreads();
  }
  while (busy) {
    const int finished = row;
    row += kStep;
    busy = row < last;
    // What the next row needs is on its way while this one is finished.
    Epilogue next = epilogue;
    if (busy) next.load(place.row + row);
    float part[kCfg.vector];
    read_sums<kCfg>(ring + (finished * kCfg.sums_pitch() + in_tile) * 4, part);
    if constexpr (kCluster) {
      if (!busy) cluster_arrive();  // it has read the last sums
    }
    epilogue.store(place.row + finished, part);
    epilogue = next;
  }
  if constexpr (kCluster) cluster_wait();
}
