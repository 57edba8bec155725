// gemm_loaders.cuh: the operands of a product on their way into shared memory. A tile is rows of
// kRowBytes bytes along K; piece p (16 bytes) of row r lies at piece p ^ (r % 8), so that eight
// rows of a matrix and eight neighbours of a copy touch all banks once. A loader is given the tiles
// of K one after another. Rows past the end repeat the last one: their results are not stored;
// elements past the end of K are zero. Loaders of windows are in conv.cuh.
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

/// What a block needs of an operand: rows from first_row on, of n_rows; tiles [begin, end) of K.
struct Part {
  int first_row, n_rows, begin, end;
  TW_DEVICE int row(int i) const { return min(first_row + i, n_rows - 1); }
};

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
                      const Part& part, void*)
      : left_(p.k - Map::piece() * kPieceElems<T> - part.begin * kTileK<T>) {
    const T* data = static_cast<const T*>(operand.data) + batch.offset(operand) +
                    Map::piece() * kPieceElems<T> + static_cast<int64_t>(part.begin) * kTileK<T>;
#pragma unroll
    for (int i = 0; i < Map::kRows; ++i)
      row_[i] = data + row_offset<kLevels>(operand, part.row(Map::row(i)));
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
      for (int i = 0; i < kPieceElems<T>; ++i) out[i] = load_if(i < n, row + (k + i) * stride);
    }
  };
  template <class Params>
  static TW_DEVICE Row row(const Params&, const OperandParams& operand, const T* data, int row) {
    return data + row_offset<kLevels>(operand, row);
  }
};

/// kAlongRows: neighbouring threads take neighbouring rows, for operands whose rows are closer
/// together than their elements.
template <class T, class Source, bool kAlongRows, int kTileRows, int kThreads>
class GatherLoader {
 public:
  template <class Params, class Batch>
  TW_DEVICE GatherLoader(const Params& p, const OperandParams& operand, const Batch& batch,
                         const Part& part, void*)
      : operand_(operand), k_(part.begin * kTileK<T>) {
    const T* data = static_cast<const T*>(operand.data) + batch.offset(operand);
#pragma unroll
    for (int i = 0; i < kCount; ++i) row_[i] = Source::row(p, operand, data, part.row(row_of(i)));
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
