// epilogue.cuh: operands of an epilogue as matrices: where row r begins, kN columns from one on.
// codegen/epilogue.cpp puts them together with the elementwise program as `struct Epilogue`.
#pragma once

using namespace tw::cuda;

/// The element offset of a row of an operand that has kLevels levels (gemm_params.h).
template <int kLevels>
TW_DEVICE int64_t row_offset(const OperandParams& p, uint32_t row) {
  int64_t offset = 0;
#pragma unroll
  for (int level = kLevels - 1; level > 0; --level) {
    const uint32_t size = static_cast<uint32_t>(p.sizes[level]);
    const uint32_t outer = row / size;
    offset += static_cast<int64_t>(row - outer * size) * p.strides[level];
    row = outer;
  }
  if constexpr (kLevels > 0) offset += static_cast<int64_t>(row) * p.strides[0];
  return offset;
}

/// Which of the products of a batch a block computes: the coordinate in each of kDims dims.
template <int kDims>
struct Batch {
  uint32_t at[kDims > 0 ? kDims : 1];

  TW_DEVICE Batch(const int (&dims)[kMaxBatchDims], uint32_t index) {
#pragma unroll
    for (int d = kDims - 1; d >= 0; --d) {
      const uint32_t size = static_cast<uint32_t>(dims[d]);
      const uint32_t outer = index / size;
      at[d] = index - outer * size;
      index = outer;
    }
  }
  TW_DEVICE int64_t offset(const OperandParams& p) const {
    int64_t sum = 0;
#pragma unroll
    for (int d = 0; d < kDims; ++d) sum += static_cast<int64_t>(at[d]) * p.batch_strides[d];
    return sum;
  }
};

enum class Access {
  kVector,   // columns side by side, 16-byte pieces aligned (8 bytes where kN elements are fewer)
  kStrided,  // any column stride
  kSame,     // one element for all columns
};

/// kN columns of a row as they move: pieces of at most 16 bytes.
template <class T, int kN>
struct Columns {
  static constexpr int kPiece = kN * sizeof(T) <= 16 ? kN : 16 / static_cast<int>(sizeof(T));
  using Piece = Pack<T, kPiece>;
  Piece piece[kN / kPiece];

  TW_DEVICE T& operator[](int i) { return piece[i / kPiece].v[i % kPiece]; }
  TW_DEVICE void load(const T* from) {
#pragma unroll
    for (int i = 0; i < kN / kPiece; ++i) piece[i] = reinterpret_cast<const Piece*>(from)[i];
  }
  TW_DEVICE void store(T* to) const {
#pragma unroll
    for (int i = 0; i < kN / kPiece; ++i) reinterpret_cast<Piece*>(to)[i] = piece[i];
  }
};

/// An operand at kN columns. One that is the same in every row is read once, the others by load().
template <class T, int kLevels, Access kAccess, int kN>
class Extra {
 public:
  template <class Batch>
  TW_DEVICE Extra(const OperandParams& p, const Batch& batch, int col)
      : params_(&p), at_(static_cast<const T*>(p.data) + batch.offset(p) + col * p.col_stride) {
    if constexpr (kLevels == 0) read(at_);
  }
  TW_DEVICE void load(uint32_t row) {
    if constexpr (kLevels > 0) read(at_ + row_offset<kLevels>(*params_, row));
  }
  TW_DEVICE Lane<T> operator[](int i) { return to_lane(values_[kAccess == Access::kSame ? 0 : i]); }

 private:
  TW_DEVICE void read(const T* from) {
    if constexpr (kAccess == Access::kVector) {
      values_.load(from);
    } else if constexpr (kAccess == Access::kSame) {
      values_[0] = *from;
    } else {
#pragma unroll
      for (int i = 0; i < kN; ++i) values_[i] = from[i * params_->col_stride];
    }
  }
  const OperandParams* params_;
  const T* at_;
  Columns<T, kN> values_;
};

template <class T, int kLevels, Access kAccess, int kN>
class Result {
 public:
  template <class Batch>
  TW_DEVICE Result(const OperandParams& p, const Batch& batch, int col)
      : params_(&p), at_(static_cast<T*>(p.data) + batch.offset(p) + col * p.col_stride) {}
  TW_DEVICE void store(uint32_t row, const Columns<T, kN>& values) const {
    T* to = at_ + row_offset<kLevels>(*params_, row);
    if constexpr (kAccess == Access::kVector) {
      values.store(to);
    } else {
#pragma unroll
      for (int i = 0; i < kN; ++i)
        to[i * params_->col_stride] = values.piece[i / values.kPiece].v[i % values.kPiece];
    }
  }

 private:
  const OperandParams* params_;
  T* at_;
};

/// The coordinates of a gemm's or conv's result are not given to its epilogue.
struct NoCoordinates {
  TW_DEVICE int64_t operator()(int) const { return 0; }
};
