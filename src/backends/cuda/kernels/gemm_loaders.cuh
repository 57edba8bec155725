// gemm_loaders.cuh: the operands of a product on their way into shared memory. A tile is rows of
// kRowBytes bytes along K; piece p (16 bytes) of row r lies at piece p ^ (r % 8), so that eight
// rows of a matrix and eight neighbours of a copy touch all banks once. A loader is given the tiles
// of K one after another. Rows past the end repeat the last one: their results are not stored;
// elements past the end of K are zero.
#pragma once

inline constexpr int kRowBytes = 128;
inline constexpr int kPieces = kRowBytes / 16;

template <class T>
inline constexpr int kTileK = kRowBytes / static_cast<int>(sizeof(T));
template <class T>
inline constexpr int kPieceElems = 16 / static_cast<int>(sizeof(T));

TW_DEVICE uint32_t piece_offset(int row, int piece) {
  return static_cast<uint32_t>(row * kRowBytes + ((piece ^ (row % 8)) << 4));
}

/// Thread t moves piece t % 8 of rows t / 8, t / 8 + kStep, ..
template <int kTileRows, int kThreads>
struct PieceMap {
  static constexpr int kStep = kThreads / kPieces;
  static constexpr int kRows = kTileRows / kStep;
  static_assert(kStep % 8 == 0 && kTileRows % kStep == 0);
  static TW_DEVICE int piece() { return static_cast<int>(threadIdx.x) % kPieces; }
  static TW_DEVICE int row(int i) { return static_cast<int>(threadIdx.x) / kPieces + i * kStep; }
  static TW_DEVICE uint32_t offset() { return piece_offset(row(0), piece()); }
};

/// Rows that lie along K without gaps, each starting at a multiple of 16 bytes.
template <class T, int kLevels, int kTileRows, int kThreads>
class RowLoader {
 public:
  template <class Params, class Batch>
  TW_DEVICE RowLoader(const Params& p, const OperandParams& operand, const Batch& batch,
                      int first_row, int n_rows, int first_tile)
      : left_(p.k - Map::piece() * kPieceElems<T> - first_tile * kTileK<T>) {
    const T* data = static_cast<const T*>(operand.data) + batch.offset(operand) +
                    Map::piece() * kPieceElems<T> + static_cast<int64_t>(first_tile) * kTileK<T>;
#pragma unroll
    for (int i = 0; i < Map::kRows; ++i)
      row_[i] = data + row_offset<kLevels>(operand, min(first_row + Map::row(i), n_rows - 1));
  }

  TW_DEVICE void load(uint32_t tile) {
    const int bytes = max(0, min(16, left_ * static_cast<int>(sizeof(T))));
#pragma unroll
    for (int i = 0; i < Map::kRows; ++i) {
      cp_async_16(tile + Map::offset() + i * Map::kStep * kRowBytes, row_[i], bytes);
      row_[i] += kTileK<T>;
    }
    left_ -= kTileK<T>;
  }

  /// Brings `n_tiles` tiles from the next on into the L2: they come from far.
  TW_DEVICE void prefetch(int n_tiles) const {
    const int elems = min(left_, n_tiles * kTileK<T>);
    if (Map::piece() != 0 || elems < kPieceElems<T>) return;
#pragma unroll
    for (int i = 0; i < Map::kRows; ++i) prefetch_l2_bulk(row_[i], elems / kPieceElems<T> * 16);
  }

 private:
  using Map = PieceMap<kTileRows, kThreads>;
  const T* row_[Map::kRows];
  int left_;  // elements of K from this thread's piece of the next tile on
};

/// Where in the window and in its channels an element of K is: K runs over taps, channels fastest.
struct Tap {
  int z, y, x, channel;

  Tap() = default;
  TW_DEVICE Tap(const WindowParams& w, int k) {
    const int tap = k / w.channels;
    channel = k - tap * w.channels;
    const int row = tap / w.kernel[2];
    x = tap - row * w.kernel[2];
    z = row / w.kernel[1];
    y = row - z * w.kernel[1];
  }
  TW_DEVICE void next_tap(const WindowParams& w) {
    if (++x < w.kernel[2]) return;
    x = 0;
    if (++y < w.kernel[1]) return;
    y = 0;
    ++z;
  }
  TW_DEVICE void next(const WindowParams& w) {
    if (++channel < w.channels) return;
    channel = 0;
    next_tap(w);
  }
  TW_DEVICE bool inside(const WindowParams& w) const { return z < w.kernel[0]; }
  TW_DEVICE int64_t offset(const WindowParams& w, const long long (&space)[3]) const {
    return static_cast<int64_t>(z * w.dilation[0]) * space[0] +
           static_cast<int64_t>(y * w.dilation[1]) * space[1] +
           static_cast<int64_t>(x * w.dilation[2]) * space[2];
  }
};

/// The input coordinates of an output pixel's first tap, padding included.
struct Corner {
  int image, z, y, x;

  Corner() = default;
  TW_DEVICE Corner(const WindowParams& w, uint32_t pixel) {
    uint32_t rest = pixel / static_cast<uint32_t>(w.out[2]);
    x = static_cast<int>(pixel - rest * w.out[2]) * w.stride[2] - w.pad[2];
    uint32_t outer = rest / static_cast<uint32_t>(w.out[1]);
    y = static_cast<int>(rest - outer * w.out[1]) * w.stride[1] - w.pad[1];
    image = static_cast<int>(outer / static_cast<uint32_t>(w.out[0]));
    z = static_cast<int>(outer - image * w.out[0]) * w.stride[0] - w.pad[0];
  }
  TW_DEVICE int64_t offset(const WindowParams& w) const {
    return image * w.x_image + z * w.x_space[0] + y * w.x_space[1] + x * w.x_space[2];
  }
  TW_DEVICE bool covers(const WindowParams& w, const Tap& tap) const {
    return static_cast<uint32_t>(z + tap.z * w.dilation[0]) < static_cast<uint32_t>(w.in[0]) &&
           static_cast<uint32_t>(y + tap.y * w.dilation[1]) < static_cast<uint32_t>(w.in[1]) &&
           static_cast<uint32_t>(x + tap.x * w.dilation[2]) < static_cast<uint32_t>(w.in[2]);
  }
};

/// Pixels of a convolution with the channels of a tap in whole units of kUnit bytes (4, 8 or 16),
/// aligned to that.
template <class T, bool kDepth, int kUnit, int kTileRows, int kThreads>
class WindowLoader {
 public:
  template <class Params, class Batch>
  TW_DEVICE WindowLoader(const Params& p, const OperandParams& operand, const Batch& batch,
                         int first_row, int n_rows, int first_tile)
      : w_(p.window), k_(first_tile * kTileK<T> + Map::piece() * kPieceElems<T>), tap_(w_, k_) {
    const T* data = static_cast<const T*>(operand.data) + batch.offset(operand);
#pragma unroll
    for (int i = 0; i < Map::kRows; ++i) {
      const Corner corner(w_, min(first_row + Map::row(i), n_rows - 1));
      row_[i] = data + corner.offset(w_);
      if constexpr (kDepth) z_[i] = corner.z;
      y_[i] = corner.y;
      x_[i] = corner.x;
    }
  }

  TW_DEVICE void load(uint32_t tile) {
    if constexpr (kUnit == 16) {
      load_unit(tile + Map::offset());
      advance(kTileK<T>);
    } else {
      // A piece holds several taps, far from those of the tile before.
#pragma unroll
      for (int unit = 0; unit < 16 / kUnit; ++unit) {
        load_unit(tile + Map::offset() + unit * kUnit);
        advance(kUnit / static_cast<int>(sizeof(T)));
      }
      k_ += kTileK<T>;
      tap_ = Tap(w_, k_);
    }
  }

 private:
  using Map = PieceMap<kTileRows, kThreads>;

  TW_DEVICE void load_unit(uint32_t to) const {
    const int64_t offset = tap_.offset(w_, w_.x_space) + tap_.channel;
    const int dz = tap_.z * w_.dilation[0], dy = tap_.y * w_.dilation[1],
              dx = tap_.x * w_.dilation[2];
#pragma unroll
    for (int i = 0; i < Map::kRows; ++i) {
      bool inside = tap_.inside(w_) &&
                    static_cast<uint32_t>(y_[i] + dy) < static_cast<uint32_t>(w_.in[1]) &&
                    static_cast<uint32_t>(x_[i] + dx) < static_cast<uint32_t>(w_.in[2]);
      if constexpr (kDepth)
        inside = inside && static_cast<uint32_t>(z_[i] + dz) < static_cast<uint32_t>(w_.in[0]);
      if constexpr (kUnit == 16)
        cp_async_16(to + i * Map::kStep * kRowBytes, row_[i] + offset, inside ? 16 : 0);
      else
        cp_async_small<kUnit>(to + i * Map::kStep * kRowBytes, row_[i] + offset, inside);
    }
  }
  TW_DEVICE void advance(int elems) {
    for (tap_.channel += elems; tap_.channel >= w_.channels; tap_.channel -= w_.channels)
      tap_.next_tap(w_);
  }

  const WindowParams& w_;
  int k_;    // of this thread's piece of the next tile
  Tap tap_;  // the same
  const T* row_[Map::kRows];
  int z_[kDepth ? Map::kRows : 1], y_[Map::kRows], x_[Map::kRows];
};

// ---- whatever the strides: element by element. A source gives Row, where a row begins, and Piece,
// where in a row the elements of a piece are ----
/// Row r, element k of a matrix.
template <class T, int kLevels>
struct StridedSource {
  using Row = const T*;
  struct Piece {
    int k, n;
    int64_t stride;
    template <class Params>
    TW_DEVICE Piece(const Params& p, const OperandParams& operand, int first)
        : k(first), n(p.k - first), stride(operand.col_stride) {}
    TW_DEVICE void read(Row row, T (&out)[kPieceElems<T>]) const {
#pragma unroll
      for (int i = 0; i < kPieceElems<T>; ++i)
        if (i < n) out[i] = row[(k + i) * stride];
    }
  };
  template <class Params>
  static TW_DEVICE Row row(const Params&, const OperandParams& operand, const T* data, int row) {
    return data + row_offset<kLevels>(operand, row);
  }
};

/// Pixel r, tap and channel k of a convolution's input.
template <class T>
struct WindowSource {
  struct Row {
    Corner corner;
    const T* at;
  };
  struct Piece {
    const WindowParams& w;
    Tap tap[kPieceElems<T>];
    int64_t offset[kPieceElems<T>];
    template <class Params>
    TW_DEVICE Piece(const Params& p, const OperandParams&, int first) : w(p.window) {
      Tap t(w, first);
#pragma unroll
      for (int i = 0; i < kPieceElems<T>; ++i) {
        tap[i] = t;
        offset[i] = t.offset(w, w.x_space) + t.channel * w.x_channel;
        t.next(w);
      }
    }
    TW_DEVICE void read(const Row& row, T (&out)[kPieceElems<T>]) const {
#pragma unroll
      for (int i = 0; i < kPieceElems<T>; ++i)
        if (tap[i].inside(w) && row.corner.covers(w, tap[i])) out[i] = row.at[offset[i]];
    }
  };
  template <class Params>
  static TW_DEVICE Row row(const Params& p, const OperandParams&, const T* data, int row) {
    const Corner corner(p.window, row);
    return {corner, data + corner.offset(p.window)};
  }
};

/// Output channel r, tap and channel k of a convolution's weights that are not packed.
template <class T>
struct WeightSource {
  using Row = const T*;
  struct Piece {
    int n;  // elements that are there
    int64_t offset[kPieceElems<T>];
    template <class Params>
    TW_DEVICE Piece(const Params& p, const OperandParams&, int first) : n(p.k - first) {
      const WindowParams& w = p.window;
      Tap t(w, first);
#pragma unroll
      for (int i = 0; i < kPieceElems<T>; ++i) {
        offset[i] =
            t.z * w.w_space[0] + t.y * w.w_space[1] + t.x * w.w_space[2] + t.channel * w.w_channel;
        t.next(w);
      }
    }
    TW_DEVICE void read(Row row, T (&out)[kPieceElems<T>]) const {
#pragma unroll
      for (int i = 0; i < kPieceElems<T>; ++i)
        if (i < n) out[i] = row[offset[i]];
    }
  };
  template <class Params>
  static TW_DEVICE Row row(const Params&, const OperandParams& operand, const T* data, int row) {
    return data + row_offset<1>(operand, row);
  }
};

/// kAlongRows: neighbouring threads take neighbouring rows, for operands whose rows are closer
/// together than their elements.
template <class T, class Source, bool kAlongRows, int kTileRows, int kThreads>
class GatherLoader {
 public:
  template <class Params, class Batch>
  TW_DEVICE GatherLoader(const Params& p, const OperandParams& operand, const Batch& batch,
                         int first_row, int n_rows, int first_tile)
      : operand_(operand), k_(first_tile * kTileK<T>) {
    const T* data = static_cast<const T*>(operand.data) + batch.offset(operand);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      row_[i] = Source::row(p, operand, data, min(first_row + row_of(i), n_rows - 1));
  }

  template <class Params>
  TW_DEVICE void load(const Params& p, uint32_t tile) {
    if constexpr (kAlongRows) {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        load_piece(Piece(p, operand_, k_ + piece_of(i) * kPieceElems<T>), tile, i);
    } else {
      // All rows of a thread are read at one piece.
      const Piece piece(p, operand_, k_ + piece_of(0) * kPieceElems<T>);
#pragma unroll
      for (int i = 0; i < kCount; ++i) load_piece(piece, tile, i);
    }
    k_ += kTileK<T>;
  }

 private:
  using Piece = typename Source::Piece;
  static constexpr int kCount = kTileRows * kPieces / kThreads;
  static_assert(kTileRows * kPieces % kThreads == 0 && kThreads % kPieces == 0);
  union Elements {
    uint4 bytes;
    T elems[kPieceElems<T>];
  };
  TW_DEVICE void load_piece(const Piece& piece, uint32_t tile, int i) const {
    Elements values;
    values.bytes = {};
    piece.read(row_[i], values.elems);
    store_shared_16(tile + piece_offset(row_of(i), piece_of(i)), values.bytes);
  }
  static TW_DEVICE int index(int i) { return static_cast<int>(threadIdx.x) + i * kThreads; }
  static TW_DEVICE int row_of(int i) {
    return kAlongRows ? index(i) % kTileRows : index(i) / kPieces;
  }
  static TW_DEVICE int piece_of(int i) {
    return kAlongRows ? index(i) / kTileRows : index(i) % kPieces;
  }
  const OperandParams& operand_;
  int k_;
  typename Source::Row row_[kCount];
};
