#include "backends/cuda/tasks/gemm_launch.h"

#include <limits>

#include "backends/cuda/codegen/wgmma.h"
#include "backends/cuda/tasks/gemm_boxes.h"
#include "base/cat.h"

namespace tw::cuda {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

/// Bytes of the table of taps that a block keeps beside the ring for `k_tiles` of K (conv.cuh).
int64_t table_bytes(const ProductOperand& operand, int64_t k_tiles) {
  return operand.loader == ProductOperand::Loader::kWindow ? k_tiles * (128 / operand.unit) * 8 : 0;
}

std::string source_of(const Product& product, const EpilogueCode& epilogue,
                      const GemmChoice& choice, const std::optional<ProductBoxes>& boxes,
                      bool tensor_cores) {
  const TileConfig& tile = *choice.tile;
  const std::string_view slicing = product.n_slices == 1 ? "kOne"
                                   : choice.cluster      ? "kCluster"
                                                         : "kSerial";
  // A second set of sums, or elements on their way, take the registers of a second block.
  const int sums = tile.rows * tile.cols / tile.threads() * (slicing == "kSerial" ? 2 : 1);
  const bool crowded = sums > (tensor_cores ? 64 : 32) || (tile.groups && sums > 64) ||
                       product.a.gathers() || product.b.gathers();
  return cat(
      "#include \"base.cuh\"\n", epilogue.needs_points ? "#include \"points.cuh\"\n" : "",
      "#include \"gemm_params.h\"\n#include \"mma.cuh\"\n#include \"epilogue.cuh\"\n"
      "#include \"gemm_loaders.cuh\"\n",
      product.a.is_window() || product.b.is_window() ? "#include \"conv.cuh\"\n" : "",
      "#include \"gemm_sums.cuh\"\n#include \"gemm.cuh\"\n",
      tile.groups
          ? cat(wgmma_step(product.dtype, tile.cols / tile.warps_n), "#include \"wgmma.cuh\"\n")
          : "",
      "using Params = GemmParams<", epilogue.extras.size(), ">;\n", epilogue.text,
      "inline constexpr GemmConfig kConfig{", tile.rows, ", ", tile.cols, ", ", tile.warps_m, ", ",
      tile.warps_n, ", ", tile.stages, ", Slicing::", slicing, ", ",
      choice.cluster ? product.n_slices : 1, ", ", product.dims.batch_dims(), ", ", epilogue.vector,
      ", ", tile.producer ? "true" : "false", "};\nusing Sums = ",
      tile.groups    ? "GroupSums<"
      : tensor_cores ? "TensorSums<"
                     : "PlainSums<",
      device_type(product.dtype), ", kConfig>;\nusing LoadA = ",
      !boxes.has_value() ? loader_type(product.a, product.dtype, "kConfig.rows")
      : boxes->window    ? "WindowBoxes"
                         : "MatrixBoxes",
      ";\nusing LoadB = ",
      boxes.has_value() ? "MatrixBoxes" : loader_type(product.b, product.dtype, "kConfig.cols"),
      ";\nextern \"C\" __global__ void __launch_bounds__(", tile.block_threads(), ", ",
      crowded ? 1 : tile.blocks,
      ")\ntw_kernel(const __grid_constant__ Params p) {\n"
      "  run_gemm<kConfig, Sums, LoadA, LoadB, Epilogue>(p);\n}\n");
}

}  // namespace

Result<void> check_product_types(DType a, DType b) {
  if (a == b && (a == DType::kF16 || a == DType::kBF16 || a == DType::kF32)) return {};
  return error(Code::kUnsupported, "products of ", a, " and ", b,
               " have no CUDA form, only f16, bf16 or f32 on both sides");
}

ProductOperand::Loader row_loader(const MatrixOperand& matrix, DType dtype) {
  const bool rows =
      matrix.params.col_stride == 1 && matrix.elems_aligned * size_bytes(dtype) % 16 == 0;
  return rows ? ProductOperand::Loader::kRows : ProductOperand::Loader::kStrided;
}

std::string loader_type(const ProductOperand& operand, DType dtype, std::string_view tile_rows) {
  const std::string_view type = device_type(dtype);
  const std::string tail = cat(tile_rows, ", kConfig.threads()>");
  const int levels = operand.matrix.levels;
  using Loader = ProductOperand::Loader;
  switch (operand.loader) {
    case Loader::kRows:
      return cat("RowLoader<", type, ", ", levels, ", ", tail);
    case Loader::kWindow:
      return cat("WindowLoader<", type, ", ", operand.unit, ", ", tail);
    case Loader::kStrided:
      return cat("GatherLoader<", type, ", StridedSource<", type, ", ", levels, ">, ",
                 operand.along_rows ? "true" : "false", ", ", tail);
    case Loader::kWindowElements:
      return cat("GatherLoader<", type, ", WindowSource<", type, ">, false, ", tail);
    case Loader::kWeightElements:
      return cat("GatherLoader<", type, ", WeightSource<", type, ">, false, ", tail);
  }
  return "";
}

Result<void> check_sizes(const Product& product) {
  const MatrixDims& dims = product.dims;
  if (dims.rows() <= kMaxInt / 2 && dims.cols() <= kMaxInt / 2 && product.k <= kMaxInt / 64)
    return {};
  return error(Code::kUnsupported, "a product of ", dims.rows(), " x ", dims.cols(), " x ",
               product.k, " is larger than kernels count");
}

GemmParams<7> product_params(const TaskView& view, const Product& product) {
  const MatrixDims& dims = product.dims;
  GemmParams<7> p{};
  p.alpha = product.alpha;
  p.m = static_cast<int>(dims.rows());
  p.n = static_cast<int>(dims.cols());
  p.k = static_cast<int>(product.k);
  p.k_tiles = static_cast<int>((product.k * size_bytes(product.dtype) + 127) / 128);
  p.slices = product.n_slices;
  const task::SlotInfo& b = view.slot(product.b.slot);
  p.b_is_weight = b.immutable() && b.space == task::Space::kWeight ? 1 : 0;
  if (dims.groups > 1) p.batch_dims[0] = static_cast<int>(dims.groups);
  for (size_t d = 0; d < dims.n_batch; ++d) p.batch_dims[d] = static_cast<int>(dims.dims[d]);
  p.a = product.a.matrix.params;
  p.b = product.b.matrix.params;
  p.window = product.window;
  return p;
}

Result<std::vector<Launch>> launch_product(const TaskView& view, const Product& product) {
  const MatrixDims& dims = product.dims;
  if (dims.rows() == 0 || dims.cols() == 0 || dims.batch() == 0) return std::vector<Launch>{};
  TRY(check_sizes(product));
  const EpilogueCode epilogue = TRY(make_epilogue(view, product.epilogue, dims));
  const ProductShape shape{dims.rows(),
                           dims.cols(),
                           product.k,
                           dims.batch(),
                           static_cast<int>(size_bytes(product.dtype)),
                           product.dtype != DType::kF32 || (view.record.flags & kAllowTf32) != 0,
                           product.a.gathers() || product.b.gathers(),
                           product.dtype != DType::kF32 && product.many_rows,
                           epilogue.vector,
                           may_have_boxes(view, product)};
  const GemmChoice choice = choose_tile(shape, product.n_slices, view.record.variant);

  GemmParams<7> p = product_params(view, product);
  p.tiles_m = static_cast<int>((shape.m + choice.tile->rows - 1) / choice.tile->rows);
  p.tiles_n = static_cast<int>((shape.n + choice.tile->cols - 1) / choice.tile->cols);
  // Few rows: what counts is when the weights arrive.
  p.prefetch_weights = p.tiles_m <= 8 && shape.batch == 1 ? 1 : 0;

  // Where K ends before the ring is full, its rest makes room for another block.
  const int parts = choice.cluster ? product.n_slices : 1;
  const int64_t block_tiles = (p.k_tiles + parts - 1) / parts;
  p.table_offset = choice.tile->shared_bytes(block_tiles);

  const auto boxes = product_boxes(view, product, *choice.tile);
  Launch launch = make_launch(source_of(product, epilogue, choice, boxes, shape.tensor_cores), p);
  point_at(launch, offsetof(GemmParams<7>, a), product.a.slot);
  point_at(launch, offsetof(GemmParams<7>, b), product.b.slot);
  finish_params(launch, p, epilogue, product.epilogue);
  launch.cluster = static_cast<uint32_t>(parts);
  const int64_t blocks = int64_t{p.tiles_m} * p.tiles_n * shape.batch * launch.cluster;
  if (blocks > kMaxInt)
    return error(Code::kUnsupported, "a product of ", blocks, " tiles is larger than a grid");
  launch.grid = {static_cast<uint32_t>(blocks), 1, 1};
  launch.threads = static_cast<uint32_t>(choice.tile->block_threads());
  const int64_t beside =
      boxes.has_value() ? choice.tile->barrier_bytes() : table_bytes(product.a, block_tiles);
  launch.shared_bytes = static_cast<uint32_t>(p.table_offset + beside);
  if (boxes.has_value()) {
    launch.boxes = {boxes->a, boxes->b};
    launch.boxes[0].offset = offsetof(GemmParams<7>, map_a);
    launch.boxes[1].offset = offsetof(GemmParams<7>, map_b);
  }
  return std::vector<Launch>{std::move(launch)};
}

}  // namespace tw::cuda
