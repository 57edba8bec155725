#include "backends/cuda/tasks/conv_slide.h"

#include <algorithm>

#include "backends/cuda/codegen/wgmma.h"
#include "backends/cuda/tasks/conv_patch.h"
#include "backends/cuda/tasks/gemm_boxes.h"
#include "base/cat.h"

namespace tw::cuda {
namespace {

// As in gemm_config.cpp; the stages are those of the weight.
constexpr TileConfig kTiles[] = {
    {"s256x64", 256, 64, 8, 1, 6, 2, true},    {"s128x64", 128, 64, 8, 1, 6, 2, true},
    {"s256x128", 256, 128, 16, 1, 4, 1, true}, {"s128x128", 128, 128, 8, 1, 4, 2, true},
    {"s256x32", 256, 32, 8, 1, 9, 2, true},    {"s128x32", 128, 32, 8, 1, 9, 3, true},
    {"s256x64w", 256, 64, 16, 1, 6, 1, true},
};
constexpr size_t kLargeNarrow = 4, kSmallNarrow = 5;
constexpr int64_t kRoom = 226 * 1024, kRowBytes = 128;
constexpr int64_t kMostBox = 256;  // pixels of a box, in either dim

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t n, int64_t to) { return ceil_div(n, to) * to; }

/// Steps of 16 channels in a chunk: as many as divide them and fit a row of 128 bytes. 0: none.
int chunk_steps(int channels) {
  for (const int steps : {4, 3, 2, 1})
    if (channels % (16 * steps) == 0 && (steps > 1 || channels == 16)) return steps;
  return 0;
}

int n_sums(const TileConfig& tile) { return tile.rows * tile.cols / tile.threads(); }

struct Slide {
  SlideParams params{};
  int64_t tiles = 0;         // of all images
  int64_t shared_bytes = 0;  // patches and ring, or the sums
};

/// How tiles of so many rows cover the images: the fewest, then those of the smallest patches.
/// No tiles: none has room.
Slide slide_of(const WindowParams& w, int64_t images, const TileConfig& tile) {
  Slide best;
  int64_t best_pixels = 0;
  const int steps = chunk_steps(w.channels);
  // Lines of equal tiles, from the widest that there can be on.
  int64_t widest = std::min<int64_t>({w.out[2], tile.rows, kMostBox - w.kernel[2] + 1});
  while (widest > 0) {
    const int64_t tiles_x = ceil_div(w.out[2], widest), tile_w = ceil_div(w.out[2], tiles_x);
    if (tiles_x > 1 && tile_w < 8) break;
    widest = tile_w - 1;
    const int64_t pitch = tile_w + w.kernel[2] - 1;
    const int64_t room_h =
        std::min<int64_t>({(tile.rows - tile_w) / pitch + 1, w.out[1], kMostBox - w.kernel[1] + 1});
    const int64_t tiles_y = ceil_div(w.out[1], room_h), tile_h = ceil_div(w.out[1], tiles_y);
    const int64_t lines = tile_h + w.kernel[1] - 1;
    // The last rows of a tile, whose sums nobody asks for, look past the patch.
    const int64_t rows = round_up(
        std::max(lines * pitch, tile.rows + (w.kernel[1] - 1) * pitch + w.kernel[2] - 1), 8);
    Slide slide;
    slide.tiles = images * tiles_x * tiles_y;
    const int64_t chunks = w.channels / (16 * steps);
    slide.shared_bytes =
        std::max(chunks * rows * kRowBytes + int64_t{tile.stages} * tile.cols * kRowBytes,
                 int64_t{tile.rows} * (tile.cols + 8) * 4);
    if (slide.shared_bytes + (tile.stages + chunks) * 8 > kRoom) continue;
    if (best.tiles > 0 &&
        std::pair(slide.tiles, lines * pitch) >= std::pair(best.tiles, best_pixels))
      continue;
    const auto number = [](int64_t n) { return static_cast<int>(n); };
    slide.params = {number(tile_w),
                    number(tile_h),
                    number(pitch),
                    number(tiles_x),
                    number(tiles_y),
                    number(chunks),
                    number(rows * kRowBytes),
                    number(lines * pitch * kRowBytes)};
    best = slide;
    best_pixels = lines * pitch;
  }
  return best;
}

std::string source_of(const Product& product, const EpilogueCode& epilogue, const TileConfig& tile,
                      int blocks) {
  const std::string_view slicing = product.n_slices > 1 ? "kSerial" : "kOne";
  return cat("#include \"base.cuh\"\n", epilogue.needs_points ? "#include \"points.cuh\"\n" : "",
             "#include \"gemm_params.h\"\n#include \"mma.cuh\"\n#include \"epilogue.cuh\"\n"
             "#include \"gemm_loaders.cuh\"\n#include \"gemm_sums.cuh\"\n#include \"gemm.cuh\"\n",
             wgmma_step(product.dtype, tile.cols),
             "#include \"wgmma.cuh\"\n#include \"conv_slide.cuh\"\nusing Params = GemmParams<",
             epilogue.extras.size(), ">;\n", epilogue.text, "inline constexpr GemmConfig kConfig{",
             tile.rows, ", ", tile.cols, ", ", tile.warps_m, ", ", tile.warps_n, ", ", tile.stages,
             ", Slicing::", slicing, ", 1, 0, ", epilogue.vector, "};\nusing Sums = GroupSums<",
             device_type(product.dtype), ", kConfig>;\n",
             "extern \"C\" __global__ void __launch_bounds__(", tile.threads(), ", ", blocks,
             ")\ntw_kernel(const __grid_constant__ Params p) {\n  run_slides<kConfig, ",
             chunk_steps(product.window.channels), ", Sums, Epilogue>(p);\n}\n");
}

/// The variant's, or one of 32 columns: the larger while there is one for each processor.
const TileConfig& tile_of(const Product& product, uint8_t variant) {
  if (is_slide_variant(variant))
    return kTiles[static_cast<size_t>(variant - last_patch_variant() - 1)];
  return product.dims.rows() >= 132 * 256 ? kTiles[kLargeNarrow] : kTiles[kSmallNarrow];
}

/// x as images [n, h, w, c], boxes of a tile's patch.
TensorBoxes patch_boxes(const task::SlotInfo& x, const Product& product, const Slide& slide) {
  TensorBoxes boxes;
  boxes.slot = product.a.slot;
  boxes.dtype = product.dtype;
  boxes.rank = 4;
  boxes.rows = static_cast<uint32_t>(slide.params.pitch);
  boxes.lines = static_cast<uint32_t>(slide.params.tile_h + product.window.kernel[1] - 1);
  for (size_t d = 0; d < 4; ++d) {
    boxes.dims[d] = static_cast<uint64_t>(x.dims[3 - d]);
    if (d > 0)
      boxes.pitches[d - 1] = static_cast<uint64_t>(x.strides[3 - d] * size_bytes(product.dtype));
  }
  return boxes;
}

}  // namespace

bool is_slide_variant(uint8_t variant) {
  return variant > last_patch_variant() && variant <= last_slide_variant();
}

bool is_slide_product(const Product& product) {
  return product.n_slices == 1 && product.dims.cols() <= 32 && product.window.channels >= 32;
}

int last_slide_variant() { return last_patch_variant() + static_cast<int>(std::size(kTiles)); }

bool fits_slides(const TaskView& view, const Product& product) {
  const WindowParams& w = product.window;
  const task::SlotInfo& x = view.slot(product.a.slot);
  const TileConfig& tile = tile_of(product, view.record.variant);
  if (size_bytes(x.dtype) != 2 || x.rank != 4 || !product.many_rows || product.dims.groups != 1 ||
      w.x_channel != 1 || x.offset_in_root() % 16 != 0)
    return false;
  for (int d = 0; d < 3; ++d)
    if (w.stride[d] != 1 || w.dilation[d] != 1) return false;
  for (size_t d = 0; d < 3; ++d)
    if (x.strides[d] <= 0 || x.strides[d] * size_bytes(x.dtype) % 16 != 0) return false;
  if (chunk_steps(w.channels) == 0 || w.kernel[1] * w.kernel[2] == 1 || w.kernel[0] != 1)
    return false;
  // Slices end between tiles of 64 of K, and their sums take registers twice.
  if (product.n_slices > 1 && (w.channels % 64 != 0 || n_sums(tile) * tile.threads() > 16384))
    return false;
  return rows_along_k(product, product.b, product.dims.cols(), tile.cols).has_value() &&
         slide_of(w, x.dims[0], tile).tiles > 0;
}

Result<std::vector<Launch>> launch_slides(const TaskView& view, const Product& product) {
  TRY(check_sizes(product));
  const EpilogueCode epilogue = TRY(make_epilogue(view, product.epilogue, product.dims));
  const task::SlotInfo& x = view.slot(product.a.slot);
  const TileConfig& tile = tile_of(product, view.record.variant);
  const Slide slide = slide_of(product.window, x.dims[0], tile);
  const auto b = rows_along_k(product, product.b, product.dims.cols(), tile.cols);
  CHECK(slide.tiles > 0 && b.has_value(), "the product is one of sliding windows");
  GemmParams<7> p = product_params(view, product);
  p.window.slide = slide.params;
  p.tiles_n = static_cast<int>(ceil_div(product.dims.cols(), tile.cols));
  p.table_offset = static_cast<int>(slide.shared_bytes);
  const int64_t shared_bytes =
      slide.shared_bytes + (tile.stages + slide.params.n_chunks) * int64_t{8};
  const bool crowded = product.n_slices > 1 && n_sums(tile) > 32;
  const auto blocks = static_cast<int>(
      std::clamp<int64_t>(kRoom / (shared_bytes + 1024), 1, crowded ? 1 : tile.blocks));
  Launch launch = make_launch(source_of(product, epilogue, tile, blocks), p);
  point_at(launch, offsetof(GemmParams<7>, a), product.a.slot);
  point_at(launch, offsetof(GemmParams<7>, b), product.b.slot);
  finish_params(launch, p, epilogue, product.epilogue);
  launch.grid = {static_cast<uint32_t>(slide.tiles * p.tiles_n), 1, 1};
  launch.threads = static_cast<uint32_t>(tile.threads());
  launch.shared_bytes = static_cast<uint32_t>(shared_bytes);
  launch.boxes = {patch_boxes(x, product, slide), *b};
  launch.boxes[0].offset = offsetof(GemmParams<7>, map_a);
  launch.boxes[1].offset = offsetof(GemmParams<7>, map_b);
  return std::vector<Launch>{std::move(launch)};
}

}  // namespace tw::cuda
