#include "backends/cuda/tasks/conv_patch.h"

#include <algorithm>

#include "backends/cuda/codegen/wgmma.h"
#include "backends/cuda/kernels/conv_patch_params.h"
#include "backends/cuda/tasks/gemm_config.h"
#include "base/cat.h"

namespace tw::cuda {
namespace {

constexpr int kThreadsPerProcessor = 512;  // whose registers hold a tile's sums and pixels
constexpr int64_t kMaxK = 192;
/// Warpgroups of a block, by variant.
constexpr int kGroups[] = {2, 1, 4};

int round_up(int n, int to) { return (n + to - 1) / to * to; }

/// Fills in how the patch of a tile of `rows` pixels lies.
void shape_patch(WindowParams& w, int rows) {
  const int pixel_bytes = w.channels * 2, lines = (rows + w.out[2] - 2) / w.out[2] + 1;
  const int beyond = (w.kernel[2] - 1) * w.dilation[2] + 1 - w.stride[2];  // the last pixel's step
  // A line begins anywhere in a piece of 16 bytes and is copied in whole ones.
  w.patch_gap = round_up(std::max(0, beyond * pixel_bytes) + 64, 16);
  const auto image_pitch = static_cast<int>((w.dilation[1] * w.x_space[1] * 2 % 16 + 16) % 16);
  w.patch_pitch =
      round_up(rows * w.stride[2] * pixel_bytes, 16) + lines * w.patch_gap + image_pitch;
  w.patch_lines = make_divisor(w.out[2]);
  w.patch_planes = make_divisor(w.out[1]);
  w.patch_bytes = round_up(w.kernel[1] * w.patch_pitch + 16, 16);
}

PatchConfig config_of(const Product& product, int groups, int vector) {
  PatchConfig config{};
  config.cols = product.dims.cols() <= 32 ? 32 : 64;
  config.groups = groups;
  config.steps = static_cast<int>((product.k + 15) / 16);
  config.vector = vector;
  config.pairs = product.a.unit >= 4;
  return config;
}

int shared_bytes(const PatchConfig& config, const WindowParams& w) {
  return config.patches_at() + 2 * w.patch_bytes;
}

std::string source_of(const Product& product, const EpilogueCode& epilogue, const PatchConfig& c) {
  const std::string_view type = device_type(product.dtype);
  return cat("#include \"base.cuh\"\n", epilogue.needs_points ? "#include \"points.cuh\"\n" : "",
             "#include \"gemm_params.h\"\n#include \"conv_patch_params.h\"\n#include \"mma.cuh\"\n"
             "#include \"epilogue.cuh\"\n#include \"gemm_loaders.cuh\"\n#include \"conv.cuh\"\n"
             "#include \"gemm.cuh\"\n#include \"wgmma.cuh\"\n",
             wgmma_rows_step(product.dtype, c.cols), "#include \"conv_patch.cuh\"\n",
             "using Params = GemmParams<", epilogue.extras.size(), ">;\n", epilogue.text,
             "inline constexpr PatchConfig kConfig{", c.cols, ", ", c.groups, ", ", c.steps, ", ",
             c.vector, ", ", c.pairs ? "true" : "false",
             "};\nusing LoadB = ", loader_type(product.b, product.dtype, "kConfig.cols"),
             ";\nextern \"C\" __global__ void __launch_bounds__(", c.threads(), ", ",
             kThreadsPerProcessor / c.threads(),
             ")\ntw_kernel(const __grid_constant__ Params p) {\n  run_patches<", type,
             ", kConfig, LoadB, Epilogue>(p);\n}\n");
}

}  // namespace

bool is_patch_variant(uint8_t variant) {
  return variant > 2 * tile_configs().size() && variant <= last_patch_variant();
}

int last_patch_variant() {
  return static_cast<int>(2 * (tile_configs().size() + std::size(kGroups)));
}

bool is_patch_product(const Product& product) { return product.a.unit < 16 || product.k <= 16; }

bool fits_patches(const task::SlotInfo& x, const Product& product) {
  const WindowParams& w = product.window;
  if (size_bytes(x.dtype) != 2 || !product.many_rows || product.n_slices != 1 ||
      product.a.loader != ProductOperand::Loader::kWindow || product.dims.groups != 1)
    return false;
  if (product.k > kMaxK || product.dims.cols() % 4 != 0) return false;
  // One plane, of rows without gaps.
  if (w.kernel[0] != 1 || w.in[0] != 1 || w.out[0] != 1 || w.pad[0] != 0 || w.x_channel != 1 ||
      w.x_space[2] != w.channels)
    return false;
  WindowParams patch = w;
  shape_patch(patch, 64);
  return patch.patch_bytes <= 24 * 1024;
}

Result<std::vector<Launch>> launch_patches(const TaskView& view, const Product& product) {
  TRY(check_sizes(product));
  const EpilogueCode epilogue = TRY(make_epilogue(view, product.epilogue, product.dims));
  const uint8_t variant = view.record.variant;
  const int choice = variant == 0 ? 0 : (variant - 1) / 2 % static_cast<int>(std::size(kGroups));
  GemmParams<7> p = product_params(view, product);
  PatchConfig config = config_of(product, kGroups[choice], epilogue.vector);
  while (config.threads() > 8 * config.cols) config.groups /= 2;  // that bring the weight's rows
  shape_patch(p.window, config.rows());
  // Lines of few pixels have wide patches.
  constexpr int kRoom = 227 * 1024;
  if (shared_bytes(config, p.window) > kRoom * config.threads() / kThreadsPerProcessor - 1024) {
    config.groups = 1;
    shape_patch(p.window, config.rows());
  }
  p.tiles_m = static_cast<int>((product.dims.rows() + config.rows() - 1) / config.rows());
  p.tiles_n = static_cast<int>((product.dims.cols() + config.cols - 1) / config.cols);
  Launch launch = make_launch(source_of(product, epilogue, config), p);
  point_at(launch, offsetof(GemmParams<7>, a), product.a.slot);
  point_at(launch, offsetof(GemmParams<7>, b), product.b.slot);
  finish_params(launch, p, epilogue, product.epilogue);
  // All blocks run at once, each through its tiles.
  const int64_t at_once = kProcessors * (kThreadsPerProcessor / config.threads());
  const int64_t blocks = std::min<int64_t>(p.tiles_m, std::max<int64_t>(1, at_once / p.tiles_n));
  launch.grid = {static_cast<uint32_t>(blocks * p.tiles_n), 1, 1};
  launch.threads = static_cast<uint32_t>(config.threads());
  launch.shared_bytes = static_cast<uint32_t>(shared_bytes(config, p.window));
  return std::vector<Launch>{std::move(launch)};
}

}  // namespace tw::cuda
