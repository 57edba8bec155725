// stream.cuh: products of a few rows, whose time is that of reading the weight once. Each warp has
// one slice of K and streams it through a ring of its own, so that no warp waits for another before
// its slice is summed. The order of the sums is that of gemm.cuh.
//
// What a ring brings, as boxes (tma.cuh), in the order in which they are summed: passes of up to
// kCfg.units units, tiles of 64 of K within a pass; of a tile first the rows of x, then 16 rows of
// the weight a unit. Those of a weight may be asked for past the kernels in front, x may not.
//
// | barrier                         | its phase completes when   | who waits |
// |---------------------------------|----------------------------|-----------|
// | one a slot                      | its box is there           | the warp  |
// | block, after a pass             | all slices are summed      | all warps |
// | block, before the next sums are | those of the pass before   | all warps |
// | written                         | are read                   |           |
//
// A slot is asked for again once products have taken what was in it: that a load from shared memory
// was issued is not enough, since the copies do not queue behind it.
#pragma once

#include "gemm_place.cuh"
#include "tma.cuh"

/// What a kernel of this family is specialised on beside its epilogue.
struct StreamConfig {
  int columns;  // groups of 8 rows of x: the columns of an instruction
  int units;    // of 16 rows of the weight, that a warp sums side by side
  int slices;   // warps
  int depth;    // slots of a ring
  int vector;   // columns of the result that the epilogue handles at a time
  TW_DEVICE constexpr int threads() const { return 32 * slices; }
  TW_DEVICE constexpr int rows() const { return 8 * columns; }
  TW_DEVICE constexpr int cols() const { return 16 * units; }
  /// Floats from a row of sums to the next: 4 modulo 16 makes the stores of fragments free of
  /// conflicts.
  TW_DEVICE constexpr int sums_pitch() const { return cols() + 4; }
};

inline constexpr int kUnitRows = 16, kSlotBytes = kUnitRows * kRowBytes;
inline constexpr int kTileColumns = 64, kTileSteps = kTileColumns / 16;

/// What a warp sums: tiles of K, for all units of its block.
struct StreamPart {
  int first_unit, last_unit, first_tile, last_tile;
};

/// A box of a part, in the ring's order.
template <int kUnits>
struct StreamPlace {
  int pass, tile;   // the first unit of the pass
  int in_tile = 0;  // 0: x; else 1 + a unit of the pass

  TW_DEVICE StreamPlace(const StreamPart& part) : pass(part.first_unit), tile(part.first_tile) {}
  TW_DEVICE bool in(const StreamPart& part) const { return pass < part.last_unit; }
  TW_DEVICE void next(const StreamPart& part) {
    if (++in_tile <= min(kUnits, part.last_unit - pass)) return;
    in_tile = 0;
    if (++tile < part.last_tile) return;
    tile = part.first_tile;
    pass += kUnits;
  }
};

/// A warp's ring.
template <StreamConfig kCfg, class Params>
class StreamRing {
 public:
  TW_DEVICE StreamRing(const Params& p, const StreamPart& part, uint32_t slots, uint32_t barriers)
      : p_(p), part_(part), slots_(slots), barriers_(barriers), next_(part) {
    const int lane = threadIdx.x % 32;
    if (lane < kCfg.depth) barrier_init(barriers + lane * 8, 1), barrier_init_fence();
    __syncwarp();
  }
  /// Asks for those boxes of the first turn that are x, or that are not.
  TW_DEVICE void fill(bool x, bool weights) {
    StreamPlace<kCfg.units> place(part_);
    for (int slot = 0; slot < kCfg.depth && place.in(part_); ++slot, place.next(part_))
      if (place.in_tile == 0 ? x : weights) ask(slot, place);
    next_ = place;
  }
  /// Waits for the box that follows; its slot's number is `slot`.
  TW_DEVICE uint32_t wait(int& slot) {
    slot = slot_;
    barrier_wait(barriers_ + slot * 8, parity_);
    if (++slot_ == kCfg.depth) slot_ = 0, parity_ ^= 1;
    return slots_ + slot * kSlotBytes;
  }
  /// The slot is free: every lane is done with it.
  TW_DEVICE void give_back(int slot) {
    if (!next_.in(part_)) return;
    ask(slot, next_);
    next_.next(part_);
  }

 private:
  TW_DEVICE void ask(int slot, const StreamPlace<kCfg.units>& place) const {
    if (threadIdx.x % 32 != 0) return;
    const uint32_t to = slots_ + slot * kSlotBytes, barrier = barriers_ + slot * 8;
    const int column = place.tile * kTileColumns;
    if (place.in_tile == 0) {
      barrier_expect(barrier, p_.m * kRowBytes);
      copy_box(to, &p_.map_a, column, 0, barrier);
    } else {
      barrier_expect(barrier, kSlotBytes);
      copy_box(to, &p_.map_b, column, (place.pass + place.in_tile - 1) * kUnitRows, barrier);
    }
  }

  const Params& p_;
  const StreamPart& part_;
  uint32_t slots_, barriers_;
  StreamPlace<kCfg.units> next_;
  int slot_ = 0;
  uint32_t parity_ = 0;
};

/// Rows of x of a tile, as columns of the products. Those behind the last row are anything.
template <StreamConfig kCfg>
struct StreamX {
  uint32_t pairs[kTileSteps][kCfg.columns][2];  // (STEP, N_TILE, FRAGMENT)

  TW_DEVICE void load(uint32_t box) {
    const uint32_t lane = threadIdx.x % 32, swizzle = lane % 8;
#pragma unroll
    for (int j = 0; j < kCfg.columns; ++j)
#pragma unroll
      for (int step = 0; step < kTileSteps; step += 2) {
        const uint32_t piece = step * 2 + lane / 8;
        uint32_t two[4];  // (STEP, FRAGMENT)
        ldmatrix_x4(two, box + (j * 8 + lane % 8) * kRowBytes + ((piece ^ swizzle) << 4));
        pairs[step][j][0] = two[0], pairs[step][j][1] = two[1];
        pairs[step + 1][j][0] = two[2], pairs[step + 1][j][1] = two[3];
      }
  }
};

/// The sums of a warp's slice: of 16 weight rows a unit by all rows of x.
template <StreamConfig kCfg, class T>
struct StreamSums {
  float sums[kCfg.units][kCfg.columns][4];  // (M_TILE, N_TILE, FRAGMENT)

  TW_DEVICE void clear() {
#pragma unroll
    for (auto& unit : sums)
#pragma unroll
      for (auto& tile : unit)
#pragma unroll
        for (float& sum : tile) sum = 0;
  }
  /// Adds a box of the weight. When this returns, both operands have been taken.
  TW_DEVICE void add(int unit, uint32_t box, const StreamX<kCfg>& x) {
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t row = box + lane % 16 * kRowBytes + ((lane / 16 ^ lane % 8) << 4);
    uint32_t w[kTileSteps][4];
#pragma unroll
    for (int step = 0; step < kTileSteps; ++step) ldmatrix_x4(w[step], row ^ (step << 5));
#pragma unroll
    for (int step = 0; step < kTileSteps; ++step)
#pragma unroll
      for (int j = 0; j < kCfg.columns; ++j)
        Mma<T>::add(sums[unit][j], w[step], x.pairs[step][j][0], x.pairs[step][j][1]);
    // The products stand before what follows.
#pragma unroll
    for (int j = 0; j < kCfg.columns; ++j) asm volatile("" : "+f"(sums[unit][j][0])::"memory");
    __syncwarp();
  }
  /// As [row of x][row of the weight].
  TW_DEVICE void store(uint32_t to) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kCfg.units; ++i)
#pragma unroll
      for (int j = 0; j < kCfg.columns; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int row = j * 8 + lane % 4 * 2 + e % 2, col = i * 16 + lane / 4 + e / 2 * 8;
          store_shared_4(to + (row * kCfg.sums_pitch() + col) * 4, sums[i][j][e]);
        }
  }
};

/// The sums of a pass of the units from `pass` on.
template <StreamConfig kCfg, class T, class Ring>
TW_DEVICE StreamSums<kCfg, T> sum_pass(Ring& ring, const StreamPart& part, int pass) {
  StreamSums<kCfg, T> sums;
  sums.clear();
#pragma unroll 1
  for (int tile = part.first_tile; tile < part.last_tile; ++tile) {
    int x_slot, slot;
    StreamX<kCfg> x;
    x.load(ring.wait(x_slot));
#pragma unroll
    for (int i = 0; i < kCfg.units; ++i) {
      if (pass + i >= part.last_unit) break;
      sums.add(i, ring.wait(slot), x);
      if (i == 0) ring.give_back(x_slot);
      ring.give_back(slot);
    }
  }
  return sums;
}

/// Adds the slices in ascending order and finishes rows of the columns of this thread.
template <StreamConfig kCfg, class Epilogue, class Params>
TW_DEVICE void finish_pass(const Params& p, uint32_t sums, Epilogue& epilogue, int in_pass) {
  constexpr int kVectors = kCfg.cols() / kCfg.vector, kStep = kCfg.threads() / kVectors;
  constexpr uint32_t kSliceBytes = kCfg.rows() * kCfg.sums_pitch() * 4;
  for (int row = threadIdx.x / kVectors; row < p.m; row += kStep) {
    epilogue.load(row);
    float total[kCfg.vector] = {};
#pragma unroll
    for (int slice = 0; slice < kCfg.slices; ++slice) {
      const uint32_t from = sums + slice * kSliceBytes + (row * kCfg.sums_pitch() + in_pass) * 4;
      if constexpr (kCfg.vector % 4 == 0) {
#pragma unroll
        for (int i = 0; i < kCfg.vector; i += 4) {
          const float4 part = load_shared_16(from + i * 4);
          total[i] += part.x, total[i + 1] += part.y;
          total[i + 2] += part.z, total[i + 3] += part.w;
        }
      } else {
#pragma unroll
        for (int i = 0; i < kCfg.vector; ++i) total[i] += load_shared_4(from + i * 4);
      }
    }
    epilogue.store(row, total);
  }
}

template <StreamConfig kCfg, class T, class Epilogue, class Params>
TW_DEVICE void run_stream(const Params& p) {
  extern __shared__ __align__(1024) uint8_t memory[];
  constexpr int kVectors = kCfg.cols() / kCfg.vector;
  constexpr uint32_t kSumsBytes = kCfg.rows() * kCfg.sums_pitch() * 4;
  static_assert(kCfg.threads() % kVectors == 0);
  const int slice = static_cast<int>(threadIdx.x) / 32;
  const uint32_t base = shared_address(memory), sums_at = base + p.table_offset;
  const uint32_t barriers = sums_at + kCfg.slices * kSumsBytes;
  const uint32_t n_units = (p.n + kUnitRows - 1) / kUnitRows;
  const StreamPart part{static_cast<int>(n_units * blockIdx.x / gridDim.x),
                        static_cast<int>(n_units * (blockIdx.x + 1) / gridDim.x),
                        slice * p.k_tiles / kCfg.slices, (slice + 1) * p.k_tiles / kCfg.slices};
  StreamRing<kCfg, Params> ring(p, part, base + slice * kCfg.depth * kSlotBytes,
                                barriers + slice * kCfg.depth * 8);
  const bool ahead = p.b_is_weight != 0;
  if (ahead) ring.fill(false, true);
  let_next_start();
  wait_for_inputs();
  ring.fill(true, !ahead);

  const Batch<0> batch(p.batch_dims, 0);
  const int in_pass = static_cast<int>(threadIdx.x) % kVectors * kCfg.vector;
#pragma unroll 1
  for (int pass = part.first_unit; pass < part.last_unit; pass += kCfg.units) {
    const int col = pass * kUnitRows + in_pass;
    const bool busy = col < min(p.n, part.last_unit * kUnitRows);
    Epilogue epilogue(p, batch, busy ? col : 0);
    const StreamSums<kCfg, T> sums = sum_pass<kCfg, T>(ring, part, pass);
    if (pass != part.first_unit) __syncthreads();
    sums.store(sums_at + slice * kSumsBytes);
    __syncthreads();
    if (busy) finish_pass<kCfg>(p, sums_at, epilogue, in_pass);
  }
}
