// conv.cuh: convolution as a product of pixels and output channels: K runs over the taps of the
// window, the channels of a tap fastest.
#pragma once

/// Where in the window an element of K is.
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
  /// In elements of x from the first tap's first channel.
  TW_DEVICE int64_t offset(const WindowParams& w) const {
    return static_cast<int64_t>(z * w.dilation[0]) * w.x_space[0] +
           static_cast<int64_t>(y * w.dilation[1]) * w.x_space[1] +
           static_cast<int64_t>(x * w.dilation[2]) * w.x_space[2] + channel * w.x_channel;
  }
};

/// The input coordinates of an output pixel's first tap, padding included.
struct Corner {
  int image, z, y, x;

  Corner() = default;
  TW_DEVICE Corner(const WindowParams& w, uint32_t pixel) {
    const uint32_t line = pixel / static_cast<uint32_t>(w.out[2]);
    x = static_cast<int>(pixel - line * w.out[2]) * w.stride[2] - w.pad[2];
    const uint32_t plane = line / static_cast<uint32_t>(w.out[1]);
    y = static_cast<int>(line - plane * w.out[1]) * w.stride[1] - w.pad[1];
    image = static_cast<int>(plane / static_cast<uint32_t>(w.out[0]));
    z = static_cast<int>(plane - image * w.out[0]) * w.stride[0] - w.pad[0];
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

/// What every pixel needs of an element of K: how far it is from the pixel's corner, and a bit for
/// the tap's coordinate along each dim. Kernels are at most 7 x 12 x 12.
struct TapEntry {
  int offset_bytes;
  uint32_t bits;

  template <class T>
  static TW_DEVICE TapEntry of(const WindowParams& w, int k) {
    const Tap tap(w, k);
    if (!tap.inside(w)) return {0, 1u << 31};  // behind the end of K: padding of every pixel
    return {static_cast<int>(tap.offset(w) * static_cast<int>(sizeof(T))),
            1u << (24 + tap.z) | 1u << (12 + tap.y) | 1u << tap.x};
  }
};

/// The coordinates of taps that are not padding, a bit each.
TW_DEVICE uint32_t covered_taps(const WindowParams& w, const Corner& corner) {
  const int at[3] = {corner.z, corner.y, corner.x};
  uint32_t mask = 0;
#pragma unroll
  for (int d = 0; d < 3; ++d)
#pragma unroll 1
    for (int t = 0; t < w.kernel[d]; ++t)
      if (static_cast<uint32_t>(at[d] + t * w.dilation[d]) < static_cast<uint32_t>(w.in[d]))
        mask |= 1u << (24 - 12 * d + t);
  return mask;
}

/// Pixels with the channels of a tap in whole units of kUnit bytes (an element, 4, 8 or 16),
/// aligned to that. The block's taps are worked out once, into a table in shared memory: an entry a
/// unit.
template <class T, int kUnit, int kTileRows, int kThreads>
class WindowLoader {
 public:
  static constexpr bool kTable = true;

  template <class Params, class Batch>
  TW_DEVICE WindowLoader(const Params& p, const OperandParams& operand, const Batch& batch,
                         const Part& part, void* table)
      : table_(static_cast<const TapEntry*>(table) + Map::piece() * kUnits) {
    const WindowParams& w = p.window;
    auto* entries = static_cast<TapEntry*>(table);
    const int first = part.begin * kTileUnits, n = (part.end - part.begin) * kTileUnits;
    for (int i = threadIdx.x; i < n; i += kThreads)
      entries[i] = TapEntry::of<T>(w, (first + i) * (kUnit / static_cast<int>(sizeof(T))));
    const T* data = static_cast<const T*>(operand.data) + batch.offset(operand);
#pragma unroll
    for (int i = 0; i < Map::kRows; ++i) {
      const Corner corner(w, part.row(Map::row(i)));
      row_[i] = reinterpret_cast<const uint8_t*>(data + corner.offset(w));
      mask_[i] = covered_taps(w, corner);
    }
  }

  TW_DEVICE void load(uint32_t tile) {
    if constexpr (kUnit == sizeof(T) && kUnit < 4) {
      load_elements(tile);
    } else {
#pragma unroll
      for (int u = 0; u < kUnits; ++u) {
        const TapEntry entry = table_[u];
#pragma unroll
        for (int i = 0; i < Map::kRows; ++i) {
          const uint32_t to = tile + Map::offset() + i * Map::kStep * kRowBytes + u * kUnit;
          const uint8_t* from = row_[i] + entry.offset_bytes;
          const bool inside = (mask_[i] & entry.bits) == entry.bits;
          if constexpr (kUnit == 16)
            cp_async_16(to, from, inside ? 16 : 0);
          else
            cp_async_small<kUnit>(to, from, inside);
        }
      }
    }
    table_ += kTileUnits;
  }

 private:
  using Map = PieceMap<kTileRows, kThreads>;
  static constexpr int kUnits = 16 / kUnit, kTileUnits = kRowBytes / kUnit;

  /// Units too small for asynchronous copies pass through registers.
  TW_DEVICE void load_elements(uint32_t tile) const {
    union {
      uint4 bytes;
      T elems[kUnits];
    } piece[Map::kRows];
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const TapEntry entry = table_[u];
#pragma unroll
      for (int i = 0; i < Map::kRows; ++i)
        piece[i].elems[u] = load_if((mask_[i] & entry.bits) == entry.bits,
                                    reinterpret_cast<const T*>(row_[i] + entry.offset_bytes));
    }
#pragma unroll
    for (int i = 0; i < Map::kRows; ++i)
      store_shared_16(tile + Map::offset() + i * Map::kStep * kRowBytes, piece[i].bytes);
  }

  const TapEntry* table_;  // of this thread's piece of the next tile
  const uint8_t* row_[Map::kRows];
  uint32_t mask_[Map::kRows];
};

// ---- sources of GatherLoader ----
/// Pixel r, tap and channel k of x, whatever the window.
template <class T>
struct WindowSource {
  struct Row {
    Corner corner;
    const T* at;
  };
  struct Piece {
    const WindowParams& w;
    Tap first;
    template <class Params>
    TW_DEVICE Piece(const Params& p, const OperandParams&, int k) : w(p.window), first(w, k) {}
    TW_DEVICE void read(const Row& row, T (&out)[kPieceElems<T>]) const {
      Tap tap = first;
#pragma unroll
      for (int i = 0; i < kPieceElems<T>; ++i) {
        out[i] = load_if(tap.inside(w) && row.corner.covers(w, tap), row.at + tap.offset(w));
        tap.next(w);
      }
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
      for (int i = 0; i < kPieceElems<T>; ++i) out[i] = load_if(i < n, row + offset[i]);
    }
  };
  template <class Params>
  static TW_DEVICE Row row(const Params&, const OperandParams& operand, const T* data, int row) {
    return data + row_offset<1>(operand, row);
  }
};
