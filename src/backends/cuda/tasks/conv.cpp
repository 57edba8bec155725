// conv: a product of pixels and output channels. With one tap that no padding meets, pixels are
// rows of x as they lie; else loaders follow the taps. Groups are a batch of products.
#include <limits>
#include <numeric>

#include "backends/cuda/tasks/conv_patch.h"
#include "backends/cuda/tasks/conv_slide.h"
#include "backends/cuda/tasks/conv_window.h"
#include "backends/cuda/tasks/gemm_launch.h"

namespace tw::cuda {
namespace {

/// One tap, and no pixel's tap is padding.
bool is_pointwise(const WindowParams& w) {
  for (int d = 0; d < 3; ++d)
    if (w.kernel[d] != 1 || w.pad[d] != 0 || (w.out[d] - 1) * w.stride[d] >= w.in[d]) return false;
  return true;
}

int64_t n_taps(const WindowParams& w) { return int64_t{w.kernel[0]} * w.kernel[1] * w.kernel[2]; }

/// x as rows of channels, one an output pixel.
Result<ProductOperand> pointwise_rows(const task::ConvTask& task, const task::SlotInfo& x,
                                      const task::SlotInfo& y) {
  ProductOperand a;
  StridedView rows = StridedView::of(x);
  for (int d = 0; d + 2 < x.rank; ++d) {
    rows.dims[static_cast<size_t>(d) + 1] = y.dims[d + 1];
    rows.strides[static_cast<size_t>(d) + 1] *= task.stride[static_cast<size_t>(d)];
  }
  a.matrix = TRY(matrix_operand(rows, {rows.dims, 0, task.groups}));
  a.loader = row_loader(a.matrix, x.dtype);
  a.slot = task.x.id;
  return a;
}

ProductOperand window_pixels(const task::ConvTask& task, const task::SlotInfo& x,
                             const WindowParams& w) {
  ProductOperand a;
  a.slot = task.x.id;
  a.matrix.params.batch_strides[0] = w.channels * w.x_channel;
  const auto bytes = static_cast<int>(size_bytes(x.dtype));
  a.unit = bytes;
  for (int unit = 2 * bytes; unit <= 16 && w.x_channel == 1; unit *= 2)
    if (w.channels * bytes % unit == 0 && pixel_alignment(x) * bytes % unit == 0) a.unit = unit;
  // What conv.cuh keeps of a pixel and of a block's taps.
  const bool small = w.kernel[0] <= 7 && w.kernel[1] <= 12 && w.kernel[2] <= 12 &&
                     n_taps(w) * w.channels * bytes / a.unit <= 24 * 1024 / 8;
  a.loader = small ? ProductOperand::Loader::kWindow : ProductOperand::Loader::kWindowElements;
  return a;
}

/// Packed: rows [co] of [taps][ci / groups], padded to multiples of 16 bytes.
ProductOperand weight_rows(const task::ConvTask& task, const task::SlotInfo& w, int64_t k,
                           int64_t group_rows) {
  ProductOperand b;
  b.slot = task.w.id;
  b.matrix.levels = 1;
  OperandParams& p = b.matrix.params;
  if (w.layout == task::Layout::kPanels) {
    const int64_t piece = 16 / size_bytes(w.dtype);
    p.strides[0] = (k + piece - 1) / piece * piece;
    p.col_stride = 1;
  } else {
    b.loader = ProductOperand::Loader::kWeightElements;
    p.strides[0] = w.strides[0];
  }
  p.batch_strides[0] = group_rows * p.strides[0];
  return b;
}

/// Images of so many pixels do not fill the rows of a warpgroup's product.
constexpr int64_t kFewPixels = 32;

}  // namespace

int64_t pixel_alignment(const task::SlotInfo& x) {
  int64_t bytes = std::gcd(int64_t{64}, x.offset_in_root());
  for (int d = 0; d + 1 < x.rank; ++d)
    if (x.dims[d] > 1) bytes = std::gcd(bytes, x.strides[d] * size_bytes(x.dtype));
  return bytes / size_bytes(x.dtype);
}

Result<WindowParams> window_params(const task::ConvTask& task, const TaskView& view) {
  const task::SlotInfo &x = view.slot(task.x.id), &w = view.slot(task.w.id),
                       &y = view.slot(task.y.id);
  for (const task::SlotInfo* slot : {&x, &y})
    for (int d = 0; d < slot->rank; ++d)
      if (slot->dims[d] > std::numeric_limits<int32_t>::max() / 2)
        return error(Code::kUnsupported, "a convolution of dims beyond 2^30 has no CUDA form");
  WindowParams p{};
  p.channels = static_cast<int>(w.dims[1]);
  p.x_image = x.strides[0];
  p.x_channel = x.strides[x.rank - 1];
  p.w_channel = w.strides[1];
  int64_t reach = w.dims[1] * std::abs(p.x_channel);
  const int missing = 3 - (x.rank - 2);
  for (int d = 0; d < 3; ++d) {
    p.in[d] = p.out[d] = p.kernel[d] = p.stride[d] = p.dilation[d] = 1;
    if (d < missing) continue;
    const int from = d - missing;
    const auto field = static_cast<size_t>(from);
    p.in[d] = static_cast<int>(x.dims[from + 1]);
    p.out[d] = static_cast<int>(y.dims[from + 1]);
    p.kernel[d] = task.kernel[field];
    p.stride[d] = task.stride[field];
    p.dilation[d] = task.dilation[field];
    p.pad[d] = task.pad[field];
    p.x_space[d] = x.strides[from + 1];
    p.w_space[d] = w.strides[from + 2];
    reach += int64_t{p.kernel[d]} * p.dilation[d] * std::abs(p.x_space[d]);
  }
  if (reach > std::numeric_limits<int32_t>::max())
    return error(Code::kUnsupported, "a window that spans ", reach, " elements has no CUDA form");
  return p;
}

Launches launch_task(const task::ConvTask& task, const TaskView& view) {
  const task::SlotInfo &x = view.slot(task.x.id), &w = view.slot(task.w.id),
                       &y = view.slot(task.y.id);
  TRY(check_product_types(x.dtype, w.dtype));
  if (y.count() == 0) return std::vector<Launch>{};
  if (is_depthwise(task, w)) return launch_depthwise(task, view);
  Product product;
  product.dtype = x.dtype;
  product.window = TRY(window_params(task, view));
  product.dims = {y.shape(), 0, task.groups};
  product.k = n_taps(product.window) * w.dims[1];
  const bool pointwise = is_pointwise(product.window);
  product.a = pointwise ? TRY(pointwise_rows(task, x, y)) : window_pixels(task, x, product.window);
  product.b = weight_rows(task, w, product.k, product.dims.cols());
  // An image's bits do not depend on its neighbours: its pixels alone decide.
  const int64_t pixels = product.dims.rows() / y.dims[0];
  const int64_t k_tiles = (product.k * size_bytes(x.dtype) + 127) / 128;
  product.many_rows = pixels > kFewPixels;
  product.n_slices = slices(pixels, product.dims.cols() * task.groups, k_tiles);
  product.epilogue = {task.y.id, task.bias.id, task.extra, task.epilogue};
  const uint8_t variant = view.record.variant;
  const bool slides = is_slide_variant(variant) || (variant == 0 && is_slide_product(product));
  if (slides && fits_slides(view, product)) return launch_slides(view, product);
  Product patches = product;
  if (pointwise) patches.a = window_pixels(task, x, product.window);
  const bool wanted = is_patch_variant(variant) || is_patch_product(patches);
  return wanted && fits_patches(x, patches) ? launch_patches(view, patches)
                                            : launch_product(view, product);
}

}  // namespace tw::cuda
