// conv_patch.cuh: convolutions of few channels (an image's three), whose taps are too small for
// asynchronous copies. The input rows that a block's pixels look at are copied into shared memory
// as they lie, in pieces of 16 bytes; tiles of K are put together from there.
//
// In shared memory: an offset for each element of K; a PatchLine for each line of output pixels
// that the tile touches; the patch, kernel[1] rows of patch_pitch bytes a line. Pieces keep their
// place modulo 16 bytes: patch_pitch is the image's own row pitch modulo 16, and a line begins
// where its first tap lies modulo 16.
//   constructor, then __syncthreads:  offsets and lines are there
//   first load():  warps copy rows, everyone waits, __syncthreads:  the patch is there
#pragma once

/// A line of output pixels. Bytes count from x, and in a row from its first column.
struct PatchLine {
  int64_t row;     // of the first tap's input row; may be in front of the image
  int y;           // that row; may be padding
  int column;      // of the first pixel's first tap; may be negative
  int bytes;       // that the line's pixels look at, of each row
  uint32_t begin;  // the first tap in the patch
};

template <class T, int kTileRows, int kThreads>
class PatchLoader {
 public:
  static constexpr bool kTable = true;

  template <class Params, class Batch>
  TW_DEVICE PatchLoader(const Params& p, const OperandParams& operand, const Batch&,
                        const Part& part, void* table)
      : w_(p.window),
        x_(static_cast<const T*>(operand.data)),
        left_(p.k - part.begin * kTileK<T> - Map::piece() * kPieceElems<T>),
        first_pixel_(part.row(0)),
        last_pixel_(part.row(kTileRows - 1)) {
    first_line_ = first_pixel_ / w_.out[2];
    n_lines_ = last_pixel_ / w_.out[2] - first_line_ + 1;
    const int n = (part.end - part.begin) * kTileK<T>;
    auto* offsets = static_cast<int*>(table);
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += kThreads) {
      const Tap tap(w_, min(part.begin * kTileK<T> + i, p.k - 1));
      offsets[i] =
          tap.y * w_.patch_pitch + (tap.x * w_.dilation[2] * w_.channels + tap.channel) * 2;
    }
    offsets_ = offsets + Map::piece() * kPieceElems<T>;
    auto* lines = reinterpret_cast<PatchLine*>(offsets + n);
    lines_ = lines;
    const uint32_t patch =
        shared_address(table) + n * 4 + n_lines_ * static_cast<int>(sizeof(PatchLine));
#pragma unroll 1
    for (int i = threadIdx.x; i < n_lines_; i += kThreads)
      lines[i] = make_line(i, (patch + 15) / 16 * 16 + i * w_.patch_line);
  }

  TW_DEVICE void load(uint32_t tile) {
    if (!filled_) {
      fill();
      find_pixels();
      filled_ = true;
    }
    if (left_ >= kPieceElems<T>)
      load_rows<false>(tile);
    else
      load_rows<true>(tile);
    offsets_ += kTileK<T>;
    left_ -= kTileK<T>;
  }

 private:
  using Map = PieceMap<kTileRows, kThreads>;
  static_assert(sizeof(T) == 2);
  union Piece {
    uint4 bytes;
    T elems[kPieceElems<T>];
  };

  TW_DEVICE int pixel_bytes() const { return w_.channels * 2; }

  TW_DEVICE PatchLine make_line(int number, uint32_t place) const {
    const int line = first_line_ + number, image = line / w_.out[1];
    const int first_x = number == 0 ? first_pixel_ - line * w_.out[2] : 0;
    const int last_x = min(last_pixel_ - line * w_.out[2], w_.out[2] - 1);
    PatchLine made;
    made.y = (line - image * w_.out[1]) * w_.stride[1] - w_.pad[1];
    made.row = (image * w_.x_image + made.y * w_.x_space[1]) * 2;
    made.column = (first_x * w_.stride[2] - w_.pad[2]) * pixel_bytes();
    made.bytes = ((last_x - first_x) * w_.stride[2] + (w_.kernel[2] - 1) * w_.dilation[2] + 1) *
                 pixel_bytes();
    made.begin = place + ((reinterpret_cast<int64_t>(x_) + made.row + made.column) & 15);
    return made;
  }

  /// A warp copies a row at a time.
  TW_DEVICE void fill() const {
    const int row_bytes = w_.in[2] * pixel_bytes();
#pragma unroll 1
    for (int row = threadIdx.x / 32; row < n_lines_ * w_.kernel[1]; row += kThreads / 32) {
      const int number = row / w_.kernel[1], ky = row - number * w_.kernel[1];
      const PatchLine line = lines_[number];
      const uint32_t begin = line.begin + ky * w_.patch_pitch;
      const int shift = static_cast<int>(begin % 16), n = (shift + line.bytes + 15) / 16;
      const bool inside =
          static_cast<uint32_t>(line.y + ky * w_.dilation[1]) < static_cast<uint32_t>(w_.in[1]);
      const auto* from =
          reinterpret_cast<const uint8_t*>(x_) + line.row + ky * w_.dilation[1] * w_.x_space[1] * 2;
#pragma unroll 1
      for (int piece = threadIdx.x % 32; piece < n; piece += 32) {
        const int column = line.column - shift + piece * 16;
        const uint32_t to = begin - shift + piece * 16;
        if (inside && column >= 0 && column + 16 <= row_bytes)
          cp_async_16(to, from + column, 16);
        else
          copy_edge(to, reinterpret_cast<const T*>(from + column), inside ? -column : 16,
                    row_bytes - column);
      }
    }
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
  }

  /// A piece of which bytes [begin, end) are the image's; the others are padding.
  TW_DEVICE void copy_edge(uint32_t to, const T* from, int begin, int end) const {
    Piece values;
#pragma unroll
    for (int i = 0; i < kPieceElems<T>; ++i)
      values.elems[i] = load_if(i * 2 >= begin && i * 2 < end, from + i);
    store_shared_16(to, values.bytes);
  }

  TW_DEVICE void find_pixels() {
#pragma unroll
    for (int i = 0; i < Map::kRows; ++i) {
      const int pixel = min(first_pixel_ + Map::row(i), last_pixel_), line = pixel / w_.out[2];
      const int from_line = line == first_line_ ? first_pixel_ : line * w_.out[2];
      pixel_[i] =
          lines_[line - first_line_].begin + (pixel - from_line) * w_.stride[2] * pixel_bytes();
    }
  }

  template <bool kTail>
  TW_DEVICE void load_rows(uint32_t tile) const {
    int offset[kPieceElems<T>];
#pragma unroll
    for (int i = 0; i < kPieceElems<T>; ++i) offset[i] = offsets_[i];
#pragma unroll
    for (int r = 0; r < Map::kRows; ++r) {
      Piece values;
#pragma unroll
      for (int i = 0; i < kPieceElems<T>; ++i) {
        values.elems[i] = load_shared_2<T>(pixel_[r] + offset[i]);
        if (kTail && i >= left_) values.elems[i] = T{};
      }
      store_shared_16(tile + Map::offset() + r * Map::kStep * kRowBytes, values.bytes);
    }
  }

  const WindowParams& w_;
  const T* x_;
  const int* offsets_;  // of this thread's piece of the next tile
  const PatchLine* lines_;
  int left_;  // elements of K from this thread's piece of the next tile on
  int first_pixel_, last_pixel_, first_line_, n_lines_;
  uint32_t pixel_[Map::kRows];  // first taps
  bool filled_ = false;
};
