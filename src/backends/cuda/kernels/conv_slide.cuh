// conv_slide.cuh: convolutions whose taps are products of one patch of the image, each at its own
// place. A block computes tile_h lines of tile_w output pixels. All that their windows see is
// copied once, a chunk of channels at a time; as rows of one pixel each, the rows that tap (ky, kx)
// meets are the patch's from ky * pitch + kx on. Row m of the tile is thus output pixel (m / pitch,
// m % pitch); rows past the end of a line hold sums that nobody asks for. The order of a sum is
// that of gemm.cuh, slices one after another: taps, channels within.
//
// Shared memory: a patch a chunk, a ring of tiles of the weight, a barrier for each of both; then,
// in the same place, the sums. Ring and barriers are used as in gemm_tiles.cuh.
#pragma once

/// The tile that a block computes.
struct SlideTile {
  int image, x, y, col;  // of the first output pixel and channel

  template <class Params>
  TW_DEVICE SlideTile(const Params& p, int cols) {
    const SlideParams& s = p.window.slide;
    const int block = static_cast<int>(blockIdx.x), tile = block / p.tiles_n;
    col = (block - tile * p.tiles_n) * cols;
    const int line = tile / s.tiles_x;
    image = line / s.tiles_y;
    x = (tile - line * s.tiles_x) * s.tile_w;
    y = (line - image * s.tiles_y) * s.tile_h;
  }
  /// The number of the output pixel in row `row`; -1: none.
  TW_DEVICE int pixel(const WindowParams& w, int row) const {
    const int in_y = row / w.slide.pitch, in_x = row - in_y * w.slide.pitch;
    if (in_x >= w.slide.tile_w || in_y >= w.slide.tile_h) return -1;
    if (x + in_x >= w.out[2] || y + in_y >= w.out[1]) return -1;
    return (image * w.out[1] + y + in_y) * w.out[2] + x + in_x;
  }
};

/// Where patches and tiles of the weight lie, and how one thread asks for them. kSteps: steps of 16
/// channels in a chunk.
template <GemmConfig kCfg, int kSteps, class Params>
struct SlideCopies {
  static constexpr int kTileBytes = kCfg.cols * kRowBytes, kChunk = kSteps * 16;
  const Params& p;
  const SlideTile& tile;
  uint32_t memory, barriers;
  int next = 0;  // the tile of the weight that is asked for next

  TW_DEVICE int n_chunks() const { return p.window.slide.n_chunks; }
  TW_DEVICE int n_tiles() const { return p.window.kernel[1] * p.window.kernel[2] * n_chunks(); }
  TW_DEVICE uint32_t patch(int chunk) const { return memory + chunk * p.window.slide.chunk_bytes; }
  TW_DEVICE uint32_t weights(int stage) const { return patch(n_chunks()) + stage * kTileBytes; }
  TW_DEVICE uint32_t full(int stage) const { return barriers + stage * 8; }
  TW_DEVICE uint32_t patch_full(int chunk) const { return full(kCfg.stages + chunk); }

  TW_DEVICE void ask(int stage) {
    const int tap = next / n_chunks(), chunk = next - tap * n_chunks();
    barrier_expect(full(stage), kTileBytes);
    copy_box(weights(stage), &p.map_b, tap * p.window.channels + chunk * kChunk, tile.col,
             full(stage));
    ++next;
  }
  TW_DEVICE void ask_first() {
    for (int i = 0; i < min(kCfg.stages, n_tiles()); ++i) ask(i);
  }
  /// Everything that is asked for ahead; the whole block calls it.
  TW_DEVICE void start() {
    const bool asks = threadIdx.x == 0;
    if (asks) {
      prefetch_map(&p.map_a), prefetch_map(&p.map_b);
      for (int i = 0; i < kCfg.stages + n_chunks(); ++i) barrier_init(full(i), 1);
      barrier_init_fence();
      if (p.b_is_weight != 0) ask_first();
    }
    __syncthreads();  // the barriers are there
    wait_for_inputs();
    if (!asks) return;
    for (int chunk = 0; chunk < n_chunks(); ++chunk) {
      barrier_expect(patch_full(chunk), p.window.slide.box_bytes);
      copy_patch(patch(chunk), &p.map_a, chunk * kChunk, tile.x - p.window.pad[2],
                 tile.y - p.window.pad[1], tile.image, patch_full(chunk));
    }
    if (p.b_is_weight == 0) ask_first();
  }
};

template <GemmConfig kCfg, int kSteps, class Sums, class Params>
TW_DEVICE Sums sum_slides(const Params& p, const SlideTile& tile, uint32_t memory,
                          uint32_t barriers) {
  const WindowParams& w = p.window;
  SlideCopies<kCfg, kSteps, Params> copies{p, tile, memory, barriers};
  const int n_tiles = copies.n_tiles(), n_chunks = copies.n_chunks();
  copies.start();
  const auto begin_of = [&](int slice) { return slice * n_tiles / p.slices; };
  Sums sums;
  [[maybe_unused]] Sums total;
  [[maybe_unused]] int slice = 0, slice_end = begin_of(1);
  int stage = 0, freed = kCfg.stages - 1, chunk = 0, kx = 0;
  uint32_t parity = 0, tap = memory;  // the patch from the tap's first row on
#pragma unroll 1
  for (int i = 0; i < n_tiles; ++i) {
    if (i < n_chunks) barrier_wait(copies.patch_full(i), 0);
    barrier_wait(copies.full(stage), parity);
    sums.template multiply<kSteps>(tap + chunk * w.slide.chunk_bytes, copies.weights(stage));
    sums.finish_before();
    __syncthreads();
    if (threadIdx.x == 0 && i > 0 && copies.next < n_tiles) copies.ask(freed);
    freed = stage;
    if (++stage == kCfg.stages) stage = 0, parity ^= 1;
    if constexpr (kCfg.slicing == Slicing::kSerial) {
      if (i + 1 == slice_end) {
        sums.finish();
        total.add(sums);
        sums.clear();
        ++slice;
        slice_end = begin_of(slice + 1);
      }
    }
    if (++chunk < n_chunks) continue;
    chunk = 0;
    tap += kRowBytes;
    if (++kx < w.kernel[2]) continue;
    kx = 0;
    tap += (w.slide.pitch - w.kernel[2]) * kRowBytes;
  }
  sums.finish();
  if constexpr (kCfg.slicing == Slicing::kSerial)
    return total;
  else
    return sums;
}

template <GemmConfig kCfg, int kSteps, class Sums, class Epilogue, class Params>
TW_DEVICE void run_slides(const Params& p) {
  extern __shared__ __align__(1024) uint8_t memory[];
  constexpr int kVectors = kCfg.cols / kCfg.vector, kStep = kCfg.threads() / kVectors;
  static_assert(kCfg.threads() % kVectors == 0);
  let_next_start();
  const uint32_t at = shared_address(memory);
  const SlideTile tile(p, kCfg.cols);
  const Batch<0> batch(p.batch_dims, 0);
  const int in_tile = static_cast<int>(threadIdx.x) % kVectors * kCfg.vector;
  const int col = tile.col + in_tile;
  Epilogue::prefetch(p, col);
  const Sums sums = sum_slides<kCfg, kSteps, Sums>(p, tile, at, at + p.table_offset);
  __syncthreads();  // nobody reads patches or weights any more
  sums.store(at);
  __syncthreads();
  if (col >= p.n) return;
  Epilogue epilogue(p, batch, col);
  const int last = (p.window.slide.tile_h - 1) * p.window.slide.pitch + p.window.slide.tile_w;
#pragma unroll 1
  for (int row = static_cast<int>(threadIdx.x) / kVectors; row < last; row += kStep) {
    const int pixel = tile.pixel(p.window, row);
    if (pixel < 0) continue;
    epilogue.load(pixel);
    float part[kCfg.vector];
    read_sums<kCfg>(at + (row * kCfg.sums_pitch() + in_tile) * 4, part);
    epilogue.store(pixel, part);
  }
}
