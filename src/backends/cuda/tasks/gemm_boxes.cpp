#include "backends/cuda/tasks/gemm_boxes.h"

namespace tw::cuda {
namespace {

constexpr int64_t kMostDim = int64_t{1} << 31;
constexpr int64_t kMostPitch = int64_t{1} << 39;
constexpr int kMostCorner = 127, kMostTap = 255, kMostStep = 8;  // of pixels in two dims

bool fits(int64_t dim) { return dim > 0 && dim < kMostDim; }
bool is_pitch(int64_t bytes) { return bytes > 0 && bytes < kMostPitch && bytes % 16 == 0; }

/// Whether the offsets of taps and the corners are in reach of the copies.
bool in_reach(const WindowParams& w, const TensorBoxes& boxes) {
  if (w.kernel[0] != 1 || w.in[0] != 1 || w.out[0] != 1 || w.pad[0] != 0) return false;
  for (size_t i = 0; i < 2; ++i) {
    const size_t d = 2 - i;
    if ((w.kernel[d] - 1) * w.dilation[d] > kMostTap || w.stride[d] > kMostStep ||
        std::abs(boxes.lower[i]) > kMostCorner || std::abs(boxes.upper[i]) > kMostCorner)
      return false;
  }
  return true;
}

std::optional<TensorBoxes> pixels(const TaskView& view, const Product& product, int tile_rows) {
  const WindowParams& w = product.window;
  const task::SlotInfo& x = view.slot(product.a.slot);
  const int64_t elem = size_bytes(product.dtype);
  if (x.rank != 4 || w.x_channel != 1 || w.channels % 64 != 0 || x.offset_in_root() % 16 != 0)
    return std::nullopt;
  TensorBoxes boxes;
  boxes.slot = product.a.slot;
  boxes.dtype = product.dtype;
  boxes.rows = static_cast<uint32_t>(tile_rows);
  boxes.rank = 4;
  for (size_t d = 0; d < 4; ++d) {
    const size_t from = 3 - d;
    if (!fits(x.dims[from])) return std::nullopt;
    boxes.dims[d] = static_cast<uint64_t>(x.dims[from]);
    if (d == 0) continue;
    const int64_t pitch = x.strides[from] * elem;
    if (!is_pitch(pitch)) return std::nullopt;
    boxes.pitches[d - 1] = static_cast<uint64_t>(pitch);
  }
  // The first tap of the windows meets out[d] pixels, `stride` apart, from -pad on.
  for (size_t i = 0; i < 2; ++i) {
    const size_t d = 2 - i;
    boxes.lower[i] = -w.pad[d];
    boxes.upper[i] = -w.pad[d] + (w.out[d] - 1) * w.stride[d] - (w.in[d] - 1);
    boxes.steps[i] = static_cast<uint32_t>(w.stride[d]);
  }
  if (!in_reach(w, boxes)) return std::nullopt;
  return boxes;
}

}  // namespace

std::optional<TensorBoxes> rows_along_k(const Product& product, const ProductOperand& operand,
                                        int64_t n_rows, int tile_rows) {
  const int64_t elem = size_bytes(product.dtype);
  const int64_t pitch = operand.matrix.params.strides[0] * elem;
  if (operand.loader != ProductOperand::Loader::kRows || operand.matrix.levels != 1 ||
      !is_pitch(pitch) || !fits(n_rows) || !fits(product.k))
    return std::nullopt;
  TensorBoxes boxes;
  boxes.slot = operand.slot;
  boxes.dtype = product.dtype;
  boxes.rows = static_cast<uint32_t>(tile_rows);
  boxes.dims = {static_cast<uint64_t>(product.k), static_cast<uint64_t>(n_rows)};
  boxes.pitches = {static_cast<uint64_t>(pitch)};
  return boxes;
}

std::optional<ProductBoxes> product_boxes(const TaskView& view, const Product& product,
                                          const TileConfig& tile) {
  if (!tile.groups || product.dims.batch() != 1 || product.dims.batch_dims() != 0 ||
      size_bytes(product.dtype) != 2)
    return std::nullopt;
  const auto b = rows_along_k(product, product.b, product.dims.cols(), tile.cols);
  if (!b.has_value()) return std::nullopt;
  ProductBoxes both;
  both.b = *b;
  auto a = rows_along_k(product, product.a, product.dims.rows(), tile.rows);
  if (!a.has_value() && product.window.channels > 0) {
    both.window = true;
    a = pixels(view, product, tile.rows);
  }
  if (!a.has_value()) return std::nullopt;
  both.a = *a;
  return both;
}

bool may_have_boxes(const TaskView& view, const Product& product) {
  constexpr TileConfig kAny{"", 64, 64, 4, 1, 1, 1, true};
  return product_boxes(view, product, kAny).has_value();
}

}  // namespace tw::cuda
