// conv_patch.cuh: convolutions of few channels (an image's three), whose taps are too small for
// asynchronous copies. A block keeps the weights in shared memory and goes from tile to tile of
// pixels. The input rows that a tile looks at are copied as they lie, in pieces of 16 bytes, while
// the tile before is multiplied; warpgroups read pixels from there into the registers that their
// products take. The order of a sum is that of gemm.cuh with one slice.
//
// A patch is kernel[1] rows of patch_pitch bytes: in each, the lines of output pixels that the tile
// touches, side by side. Bytes keep their place modulo 16: patch_pitch is the image's own row pitch
// modulo 16, and a line begins where its first tap lies modulo 16 (shape_patch() on the host).
//   cp_async_wait, then __syncthreads:  the patch and its lines are there, and everyone is done
//                                       with the other patch, which is filled now
//   __syncwarp:                         a warp's sums are there; no other warp reads them
#pragma once

using namespace tw::cuda;

TW_DEVICE int divide_by(int n, const Divisor& by) {
  const auto u = static_cast<uint32_t>(n);
  return static_cast<int>((__umulhi(u, by.multiplier) + u) >> by.shift);
}

/// What of x the tile's pixels see, in shared memory.
template <class T, PatchConfig kCfg>
class Patch {
 public:
  TW_DEVICE Patch(const WindowParams& window, const T* x, int n_pixels, int tile, uint32_t at,
                  int* lines)
      : w_(window), x_(x), at_(at), lines_(lines), first_(tile * kCfg.rows()) {
    last_ = min(first_ + kCfg.rows(), n_pixels) - 1;
    first_line_ = divide_by(first_, w_.patch_lines);
  }

  /// Starts the copies. Lanes work out a row each, then warps copy a row at a time.
  TW_DEVICE void fill() const {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int n_lines = divide_by(last_, w_.patch_lines) - first_line_ + 1;
    const int n_rows = n_lines * w_.kernel[1];
#pragma unroll 1
    for (int first = 0; first < n_rows; first += 32) {
      const Row row(*this, min(first + lane, n_rows - 1), n_lines);
      const int n = min(32, n_rows - first);
#pragma unroll 1
      for (int i = warp; i < n; i += kWarps) copy(row.of_lane(i));
    }
  }

  /// Where the pixel's first tap is; behind the last pixel, that one's.
  TW_DEVICE uint32_t pixel(int number) const {
    const int pixel = min(first_ + number, last_), line = divide_by(pixel, w_.patch_lines);
    return static_cast<uint32_t>(lines_[line - first_line_] +
                                 (pixel - line * w_.out[2]) * pixel_step());
  }

 private:
  static_assert(sizeof(T) == 2);
  static constexpr int kWarps = kCfg.threads() / 32;
  TW_DEVICE int pixel_bytes() const { return w_.channels * 2; }
  TW_DEVICE int pixel_step() const { return w_.stride[2] * pixel_bytes(); }

  /// Bytes [column, column + bytes) of an image's row, which has row_bytes: what is outside is
  /// padding.
  struct Row {
    const uint8_t* from;
    uint32_t begin;  // in shared memory
    int column, bytes, row_bytes;

    Row() = default;
    /// Row `index` of the patch, lines inside taps. The first tap's also notes where its line is.
    TW_DEVICE Row(const Patch& patch, int index, int n_lines) {
      const WindowParams& w = patch.w_;
      const auto ky =
          static_cast<int>(static_cast<uint32_t>(index) / static_cast<uint32_t>(n_lines));
      const int number = index - ky * n_lines, line = patch.first_line_ + number;
      const int image = divide_by(line, w.patch_planes), start = line * w.out[2];
      const int y = (line - image * w.out[1]) * w.stride[1] - w.pad[1];
      const int first_x = max(patch.first_ - start, 0);
      const int last_x = min(patch.last_ - start, w.out[2] - 1);
      column = first_x * patch.pixel_step() - w.pad[2] * patch.pixel_bytes();
      bytes = (last_x - first_x) * patch.pixel_step() +
              ((w.kernel[2] - 1) * w.dilation[2] + 1) * patch.pixel_bytes();
      const int tap_y = y + ky * w.dilation[1];
      row_bytes = static_cast<uint32_t>(tap_y) < static_cast<uint32_t>(w.in[1])
                      ? w.in[2] * patch.pixel_bytes()
                      : 0;
      const T* image_rows = patch.x_ + image * w.x_image;
      from = reinterpret_cast<const uint8_t*>(image_rows + tap_y * w.x_space[1]);
      const auto first_tap =
          static_cast<uint32_t>(reinterpret_cast<uint64_t>(image_rows + y * w.x_space[1]));
      const int before = start + first_x - patch.first_;  // pixels of the lines in front
      begin = patch.at_ + before * patch.pixel_step() / 16 * 16 + number * w.patch_gap +
              (first_tap + column) % 16;
      if (ky == 0) patch.lines_[number] = static_cast<int>(begin) - first_x * patch.pixel_step();
      begin += ky * w.patch_pitch;
    }
    TW_DEVICE Row of_lane(int lane) const {
      Row row;
      row.from = reinterpret_cast<const uint8_t*>(
          __shfl_sync(~0u, reinterpret_cast<unsigned long long>(from), lane));
      row.begin = __shfl_sync(~0u, begin, lane);
      row.column = __shfl_sync(~0u, column, lane);
      row.bytes = __shfl_sync(~0u, bytes, lane);
      row.row_bytes = __shfl_sync(~0u, row_bytes, lane);
      return row;
    }
  };

  TW_DEVICE static void copy(const Row& row) {
    const int shift = static_cast<int>(row.begin % 16), end = shift + row.bytes;
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x) % 32 * 16; at < end; at += 32 * 16) {
      const int first = row.column - shift + at;
      const uint32_t to = row.begin - shift + at;
      if (first < 0 && first > -16 && row.row_bytes > 0)
        copy_edge(to, reinterpret_cast<const T*>(row.from + first), -first, row.row_bytes - first);
      else
        cp_async_16(to, row.from + first, first < 0 ? 0 : max(0, min(16, row.row_bytes - first)));
    }
  }

  /// A piece of which bytes [begin, end) are the row's.
  TW_DEVICE static void copy_edge(uint32_t to, const T* from, int begin, int end) {
    union {
      uint4 bytes;
      T elems[kPieceElems<T>];
    } piece;
#pragma unroll
    for (int i = 0; i < kPieceElems<T>; ++i)
      piece.elems[i] = load_if(i * 2 >= begin && i * 2 < end, from + i);
    store_shared_16(to, piece.bytes);
  }

  const WindowParams& w_;
  const T* x_;
  uint32_t at_;
  int* lines_;  // where column 0 of each line would be
  int first_, last_, first_line_;
};

/// Offsets from a pixel's first tap, in the order in which lanes take them: lane l takes elements
/// 2 (l % 4) + {0, 1, 8, 9} of a step.
template <PatchConfig kCfg>
TW_DEVICE void write_patch_offsets(const WindowParams& w, int k, int* offsets) {
#pragma unroll 1
  for (int i = threadIdx.x; i < kCfg.steps * 16; i += kCfg.threads()) {
    const int element = i / 16 * 16 + i / 4 % 4 * 2 + i % 2 + i % 4 / 2 * 8;
    const Tap tap(w, element < k ? element : 0);  // what is behind the end is not used
    offsets[i] = tap.y * w.patch_pitch + (tap.x * w.dilation[2] * w.channels + tap.channel) * 2;
  }
}

/// The rows of pixels that a lane holds for its warpgroup's products.
template <PatchConfig kCfg>
class PatchRows {
 public:
  TW_DEVICE void load(const int4* offsets, uint32_t upper, uint32_t lower, int k) {
    const int quarter = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
    for (int step = 0; step < kCfg.steps; ++step) {
      const int4 at = offsets[step * 4 + quarter];
      values[step][0] = pair(upper, at.x, at.y);
      values[step][1] = pair(lower, at.x, at.y);
      values[step][2] = pair(upper, at.z, at.w);
      values[step][3] = pair(lower, at.z, at.w);
    }
    // Behind the end of K weights are zero, but 0 x infinity is not.
    const int left = k - (kCfg.steps - 1) * 16 - quarter * 2;
    uint32_t(&end)[4] = values[kCfg.steps - 1];
    end[0] &= mask(left), end[1] &= mask(left);
    end[2] &= mask(left - 8), end[3] &= mask(left - 8);
  }
  uint32_t values[kCfg.steps][4];

 private:
  static TW_DEVICE uint32_t mask(int n) { return n >= 2 ? ~0u : n == 1 ? 0xffffu : 0; }
  static TW_DEVICE uint32_t pair(uint32_t pixel, int first, int second) {
    if constexpr (kCfg.pairs) return __float_as_uint(load_shared_4(pixel + first));
    return load_shared_2(pixel + first) | load_shared_2(pixel + second) << 16;
  }
};

/// A warp's 16 rows of sums: from the lanes that have them to those that finish columns.
template <PatchConfig kCfg, class Epilogue>
TW_DEVICE void finish_rows(Epilogue epilogue, const float (&sums)[kCfg.cols / 2], uint32_t at,
                           int first_pixel, int n_pixels, bool busy) {
  constexpr int kPitch = kCfg.sums_pitch() * 4;
  constexpr int kVectors = kCfg.cols / kCfg.vector, kAtOnce = 32 / kVectors;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const uint32_t to = at + lane / 4 * kPitch + lane % 4 * 8;
#pragma unroll
  for (int j = 0; j < kCfg.cols / 8; ++j) {
    store_shared_8(to + j * 32, {sums[j * 4], sums[j * 4 + 1]});
    store_shared_8(to + j * 32 + 8 * kPitch, {sums[j * 4 + 2], sums[j * 4 + 3]});
  }
  __syncwarp();
  const uint32_t from = at + lane / kVectors * kPitch + lane % kVectors * kCfg.vector * 4;
#pragma unroll
  for (int i = 0; i < 16; i += kAtOnce) {
    const int pixel = first_pixel + i + lane / kVectors;
    if (!busy || pixel >= n_pixels) continue;
    epilogue.load(pixel);
    float part[kCfg.vector];
#pragma unroll
    for (int j = 0; j < kCfg.vector; j += 4) {
      const float4 v = load_shared_16(from + i * kPitch + j * 4);
      part[j] = v.x, part[j + 1] = v.y, part[j + 2] = v.z, part[j + 3] = v.w;
    }
    epilogue.store(pixel, part);
  }
}

template <class T, PatchConfig kCfg, class LoadB, class Epilogue, class Params>
TW_DEVICE void run_patches(const Params& p) {
  extern __shared__ __align__(1024) uint8_t memory[];
  constexpr int kVectors = kCfg.cols / kCfg.vector;
  static_assert(kCfg.vector % 4 == 0 && kVectors <= 32);
  let_next_start();
  const uint32_t shared = shared_address(memory);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int tiles_n = p.tiles_n, step = static_cast<int>(gridDim.x) / tiles_n;
  int tile = static_cast<int>(blockIdx.x) / tiles_n;
  const int first_col = (static_cast<int>(blockIdx.x) - tile * tiles_n) * kCfg.cols;
  const int col = first_col + lane % kVectors * kCfg.vector;
  const bool busy = col < p.n && lane < 32 / kVectors * kVectors;
  const Batch<0> batch(p.batch_dims, 0);
  Epilogue::prefetch(p, col);

  write_patch_offsets<kCfg>(p.window, p.k, reinterpret_cast<int*>(memory + kCfg.offsets_at()));
  LoadB b(p, p.b, batch, {first_col, p.n, 0, p.k_tiles}, nullptr);
  const auto load_weights = [&] {
#pragma unroll 1
    for (int i = 0; i < p.k_tiles; ++i) load_tile(b, p, shared + i * kCfg.cols * kRowBytes);
  };
  if (p.b_is_weight != 0) load_weights();
  wait_for_inputs();
  if (p.b_is_weight == 0) load_weights();
  const auto patch = [&](int of_tile, int place) {
    return Patch<T, kCfg>(
        p.window, static_cast<const T*>(p.a.data), p.m, of_tile,
        shared + kCfg.patches_at() + place * p.window.patch_bytes,
        reinterpret_cast<int*>(memory + kCfg.lines_at() + place * kCfg.line_table()));
  };
  patch(tile, 0).fill();
  Epilogue epilogue(p, batch, busy ? col : 0);
  cp_async_commit();
  cp_async_wait<0>();
  fence_for_wgmma();  // the weights

  const uint64_t weights = tile_descriptor(shared);
  const uint32_t sums_at = shared + kCfg.sums_at() + warp * 16 * kCfg.sums_pitch() * 4;
  const auto* offsets = reinterpret_cast<const int4*>(memory + kCfg.offsets_at());
#pragma unroll 1
  for (int place = 0; tile < p.tiles_m; tile += step, place ^= 1) {
    cp_async_wait<0>();
    __syncthreads();
    if (tile + step < p.tiles_m) patch(tile + step, place ^ 1).fill();
    cp_async_commit();

    const Patch<T, kCfg> pixels = patch(tile, place);
    const int row = warp * 16 + lane / 4;
    PatchRows<kCfg> rows;
    rows.load(offsets, pixels.pixel(row), pixels.pixel(row + 8), p.k);
    float sums[kCfg.cols / 2];
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < kCfg.steps; ++i)
      wgmma_rows_step(sums, i > 0, rows.values[i],
                      weights + i / 4 * (kCfg.cols * kRowBytes >> 4) + i % 4 * 2);
    wgmma_commit();
    wgmma_wait<0>();
    finish_rows<kCfg>(epilogue, sums, sums_at, tile * kCfg.rows() + warp * 16, p.m, busy);
  }
}
