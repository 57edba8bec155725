// kinds.h: every kind of task as one struct, the same bytes in compiler, plan file and executors. A
// struct lists its operands (In, Out, InOut) first, then plain fields of at most 48 bytes; fields()
// names them all once and everything else (record encoding, printer, parser) is derived from it.
// Shapes are the slots' dims; a field never repeats one. `n_tiles`, `tile` (the box of the main
// output) and `access` say how the whole op is cut and which boxes a tile touches (task/kinds.cpp).
#pragma once

#include <array>
#include <tuple>

#include "task/access.h"
#include "task/pointwise.h"
#include "task/slot.h"

namespace tw::task {

using Slots = std::span<const SlotInfo>;
/// Byte offset of a PointProgram in the side table; kNoProgram: none.
using SideOffset = uint32_t;
inline constexpr SideOffset kNoProgram = 0xffffffffU;

template <class Struct, class T>
struct Field {
  const char* name;
  T Struct::* member;
};
template <class Struct, class T>
Field(const char*, T Struct::*) -> Field<Struct, T>;

/// Orders other tasks: no work of its own.
struct JoinTask {
  static constexpr const char* kName = "join";
  static constexpr auto fields() { return std::tuple<>{}; }
  int64_t n_tiles(Slots) const { return 1; }
  void access(Slots, int64_t, AccessList&) const {}
};

/// c[.., m, n] = epilogue(alpha * sum_k a[.., m, k] * b[.., k, n] + bias[n], extra...): fp32 sums,
/// k ascending, one chain an element. Batch dims broadcast as in numpy. b may be kPanels (then rank
/// 2). transpose_b: b is [.., n, k].
struct GemmTask {
  static constexpr const char* kName = "gemm";
  In a, b, bias;
  std::array<In, 7> extra{};
  Out c;
  float alpha = 1;
  SideOffset epilogue = kNoProgram;
  int32_t tile_rows = 0, tile_cols = 0;  // 0: the backend's default, chosen from the shapes alone
  uint8_t transpose_b = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"a", &GemmTask::a},
                      Field{"b", &GemmTask::b},
                      Field{"bias", &GemmTask::bias},
                      Field{"extra", &GemmTask::extra},
                      Field{"c", &GemmTask::c},
                      Field{"alpha", &GemmTask::alpha},
                      Field{"epilogue", &GemmTask::epilogue},
                      Field{"tile_rows", &GemmTask::tile_rows},
                      Field{"tile_cols", &GemmTask::tile_cols},
                      Field{"transpose_b", &GemmTask::transpose_b}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// y[n, o.., co] = epilogue(sum over taps and ci of x[n, o*stride - pad + tap*dilation.., ci] * w +
/// bias[co], extra...). Channels last; w is logical [co, ci / groups, taps..], usually packed. 1 to
/// 3 spatial dims.
struct ConvTask {
  static constexpr const char* kName = "conv";
  In x, w, bias;
  std::array<In, 7> extra{};
  Out y;
  SideOffset epilogue = kNoProgram;
  int32_t groups = 1;
  std::array<int16_t, 3> kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, pad{};
  int32_t tile_pixels = 0;  // 0: the backend's default, chosen from the shapes alone
  static constexpr auto fields() {
    return std::tuple{
        Field{"x", &ConvTask::x},           Field{"w", &ConvTask::w},
        Field{"bias", &ConvTask::bias},     Field{"extra", &ConvTask::extra},
        Field{"y", &ConvTask::y},           Field{"epilogue", &ConvTask::epilogue},
        Field{"groups", &ConvTask::groups}, Field{"kernel", &ConvTask::kernel},
        Field{"stride", &ConvTask::stride}, Field{"dilation", &ConvTask::dilation},
        Field{"pad", &ConvTask::pad},       Field{"tile_pixels", &ConvTask::tile_pixels}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// Windows of x [n, s.., c], channels last. Average counts padding only when count_padding is set.
struct PoolTask {
  static constexpr const char* kName = "pool";
  enum class Kind : uint8_t {
    kMax,
    kAverage
  };
  In x;
  Out y;
  Kind kind = Kind::kMax;
  uint8_t count_padding = 0;
  std::array<int16_t, 3> kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, pad{}, pad_end{};
  static constexpr auto fields() {
    return std::tuple{Field{"x", &PoolTask::x},
                      Field{"y", &PoolTask::y},
                      Field{"kind", &PoolTask::kind},
                      Field{"count_padding", &PoolTask::count_padding},
                      Field{"kernel", &PoolTask::kernel},
                      Field{"stride", &PoolTask::stride},
                      Field{"dilation", &PoolTask::dilation},
                      Field{"pad", &PoolTask::pad},
                      Field{"pad_end", &PoolTask::pad_end}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// y[b, q, h, :] = softmax_k(scale * q[b, q, h, :] . k[b, k, h / group, :] + mask[b, h, q, k]) v[b,
/// k, h / group, :]. q, k, v, y are [batch, length, heads, head size], strided as they come; mask
/// is f32, any dim may be 1. causal: key k is seen when k <= q + (n_keys - n_queries).
struct AttentionTask {
  static constexpr const char* kName = "attention";
  In q, k, v, mask;
  Out y;
  float scale = 1;
  uint8_t causal = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"q", &AttentionTask::q},          Field{"k", &AttentionTask::k},
                      Field{"v", &AttentionTask::v},          Field{"mask", &AttentionTask::mask},
                      Field{"y", &AttentionTask::y},          Field{"scale", &AttentionTask::scale},
                      Field{"causal", &AttentionTask::causal}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// Rows of the last dim: layer y = (x - mean) / sqrt(var + eps) * scale + bias; rms y = x /
/// sqrt(mean(x^2) + eps) * scale. mean and inv_std [.., 1] are optional outputs of layer.
struct NormTask {
  static constexpr const char* kName = "norm";
  enum class Kind : uint8_t {
    kLayer,
    kRms
  };
  In x, scale, bias;
  Out y, mean, inv_std;
  float eps = 0;
  Kind kind = Kind::kLayer;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &NormTask::x},       Field{"scale", &NormTask::scale},
                      Field{"bias", &NormTask::bias}, Field{"y", &NormTask::y},
                      Field{"mean", &NormTask::mean}, Field{"inv_std", &NormTask::inv_std},
                      Field{"eps", &NormTask::eps},   Field{"kind", &NormTask::kind}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// y = softmax (or its logarithm) of each row of the last dim.
struct SoftmaxTask {
  static constexpr const char* kName = "softmax";
  In x;
  Out y;
  uint8_t logarithm = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &SoftmaxTask::x}, Field{"y", &SoftmaxTask::y},
                      Field{"logarithm", &SoftmaxTask::logarithm}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// y = f(x...) element by element; inputs broadcast to the first output's dims, outputs all have
/// those dims.
struct ElementwiseTask {
  static constexpr const char* kName = "elementwise";
  std::array<In, 8> x{};
  std::array<Out, 4> y{};
  SideOffset program = kNoProgram;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &ElementwiseTask::x}, Field{"y", &ElementwiseTask::y},
                      Field{"program", &ElementwiseTask::program}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// y = reduction of x over the axes in `axes` (bit d: dim d of x). y has x's rank, reduced dims 1.
/// ArgMin and ArgMax take one axis, write i64, and the first (or last) of equals.
struct ReduceTask {
  static constexpr const char* kName = "reduce";
  enum class Kind : uint8_t {
    kSum,
    kMean,
    kMax,
    kMin,
    kProd,
    kSumSquare,
    kSumAbs,
    kL2,
    kLogSumExp,
    kLogSum,
    kArgMax,
    kArgMin,
    kAny,
    kAll
  };
  In x;
  Out y;
  uint32_t axes = 0;
  Kind kind = Kind::kSum;
  uint8_t last_index = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &ReduceTask::x}, Field{"y", &ReduceTask::y},
                      Field{"axes", &ReduceTask::axes}, Field{"kind", &ReduceTask::kind},
                      Field{"last_index", &ReduceTask::last_index}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// Reads x at indices. take: y[i.., j.., k..] = x[i.., index[j..], k..] around `axis`. elements: as
/// ONNX GatherElements on `axis`. nd: the last dim of index holds coordinates behind `batch_dims`
/// common dims. Indices may be negative; one out of range is a runtime error.
struct GatherTask {
  static constexpr const char* kName = "gather";
  enum class Kind : uint8_t {
    kTake,
    kElements,
    kNd
  };
  In x, index;
  Out y;
  Kind kind = Kind::kTake;
  int8_t axis = 0, batch_dims = 0;
  static constexpr auto fields() {
    return std::tuple{
        Field{"x", &GatherTask::x},       Field{"index", &GatherTask::index},
        Field{"y", &GatherTask::y},       Field{"kind", &GatherTask::kind},
        Field{"axis", &GatherTask::axis}, Field{"batch_dims", &GatherTask::batch_dims}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// y already holds the data (a copy task); updates go to the places that index names. Duplicates
/// are taken in index order.
struct ScatterTask {
  static constexpr const char* kName = "scatter";
  enum class Kind : uint8_t {
    kElements,
    kNd
  };
  enum class Combine : uint8_t {
    kReplace,
    kAdd,
    kMul,
    kMin,
    kMax
  };
  In index, updates;
  InOut y;
  Kind kind = Kind::kElements;
  Combine combine = Combine::kReplace;
  int8_t axis = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"index", &ScatterTask::index},
                      Field{"updates", &ScatterTask::updates},
                      Field{"y", &ScatterTask::y},
                      Field{"kind", &ScatterTask::kind},
                      Field{"combine", &ScatterTask::combine},
                      Field{"axis", &ScatterTask::axis}};
  }
  int64_t n_tiles(Slots) const { return 1; }
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// y = x, element by element between any two windows of equal dims: transpose, slice, concat,
/// expand, tile and every other move is a pair of views.
struct CopyTask {
  static constexpr const char* kName = "copy";
  In x;
  Out y;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &CopyTask::x}, Field{"y", &CopyTask::y}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// Resamples up to the last-but-one dims of x [n, s.., c], channels last, as ONNX Resize does.
/// scale[d]: output / input size of spatial dim d as the model states it.
struct ResizeTask {
  static constexpr const char* kName = "resize";
  enum class Kind : uint8_t {
    kNearest,
    kLinear,
    kCubic
  };
  enum class Coordinates : uint8_t {
    kHalfPixel,
    kPytorchHalfPixel,
    kAlignCorners,
    kAsymmetric,
    kHalfPixelSymmetric
  };
  enum class Nearest : uint8_t {
    kRoundPreferFloor,
    kRoundPreferCeil,
    kFloor,
    kCeil
  };
  In x;
  Out y;
  std::array<float, 3> scale{1, 1, 1};
  float cubic_a = -0.75F;
  Kind kind = Kind::kNearest;
  Coordinates coordinates = Coordinates::kHalfPixel;
  Nearest nearest = Nearest::kRoundPreferFloor;
  uint8_t exclude_outside = 0,
          scale_from_sizes = 0;  // scale_from_sizes: output dim / input dim, `scale` unused
  static constexpr auto fields() {
    return std::tuple{Field{"x", &ResizeTask::x},
                      Field{"y", &ResizeTask::y},
                      Field{"scale", &ResizeTask::scale},
                      Field{"cubic_a", &ResizeTask::cubic_a},
                      Field{"kind", &ResizeTask::kind},
                      Field{"coordinates", &ResizeTask::coordinates},
                      Field{"nearest", &ResizeTask::nearest},
                      Field{"exclude_outside", &ResizeTask::exclude_outside},
                      Field{"scale_from_sizes", &ResizeTask::scale_from_sizes}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// One recurrent layer as ONNX states it, x [seq, batch, input], gates in ONNX's order (LSTM iofc,
/// GRU zrh). Activations are the defaults. y [seq, dirs, batch, hidden]. direction: 0 forward, 1
/// reverse, 2 both.
struct RecurrentTask {
  static constexpr const char* kName = "recurrent";
  enum class Kind : uint8_t {
    kLstm,
    kGru,
    kRnn
  };
  In x, w, r, bias, lengths, h0, c0, peephole;
  Out y, h, c;
  float clip = 0;  // 0: none
  Kind kind = Kind::kLstm;
  uint8_t direction = 0, linear_before_reset = 0, input_forget = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &RecurrentTask::x},
                      Field{"w", &RecurrentTask::w},
                      Field{"r", &RecurrentTask::r},
                      Field{"bias", &RecurrentTask::bias},
                      Field{"lengths", &RecurrentTask::lengths},
                      Field{"h0", &RecurrentTask::h0},
                      Field{"c0", &RecurrentTask::c0},
                      Field{"peephole", &RecurrentTask::peephole},
                      Field{"y", &RecurrentTask::y},
                      Field{"h", &RecurrentTask::h},
                      Field{"c", &RecurrentTask::c},
                      Field{"clip", &RecurrentTask::clip},
                      Field{"kind", &RecurrentTask::kind},
                      Field{"direction", &RecurrentTask::direction},
                      Field{"linear_before_reset", &RecurrentTask::linear_before_reset},
                      Field{"input_forget", &RecurrentTask::input_forget}};
  }
  int64_t n_tiles(Slots) const { return 1; }
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// The coordinates of x's elements that are not 0, in row-major order: y [bound, rank] i64, of
/// which the first count[0] rows hold.
struct NonZeroTask {
  static constexpr const char* kName = "nonzero";
  In x;
  Out y, count;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &NonZeroTask::x}, Field{"y", &NonZeroTask::y},
                      Field{"count", &NonZeroTask::count}};
  }
  int64_t n_tiles(Slots) const { return 1; }
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// The k = values.dims.back() largest (or smallest) of each row of the last dim, sorted, ties to
/// the lower index.
struct SortTask {
  static constexpr const char* kName = "sort";
  In x;
  Out values, index;
  uint8_t largest = 1;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &SortTask::x}, Field{"values", &SortTask::values},
                      Field{"index", &SortTask::index}, Field{"largest", &SortTask::largest}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

/// Running sum along `axis`.
struct ScanTask {
  static constexpr const char* kName = "scan";
  In x;
  Out y;
  int8_t axis = 0;
  uint8_t exclusive = 0, reverse = 0;
  static constexpr auto fields() {
    return std::tuple{Field{"x", &ScanTask::x}, Field{"y", &ScanTask::y},
                      Field{"axis", &ScanTask::axis}, Field{"exclusive", &ScanTask::exclusive},
                      Field{"reverse", &ScanTask::reverse}};
  }
  int64_t n_tiles(Slots slots) const;
  Box tile(Slots slots, int64_t i) const;
  void access(Slots slots, int64_t tile, AccessList& list) const;
};

}  // namespace tw::task
