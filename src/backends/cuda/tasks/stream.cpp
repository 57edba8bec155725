#include "backends/cuda/tasks/stream.h"

#include <algorithm>

#include "backends/cuda/tasks/gemm_boxes.h"
#include "base/cat.h"

namespace tw::cuda {
namespace {

constexpr int kUnitRows = 16, kSlotBytes = kUnitRows * 128, kMostDepth = 24;
/// Units of a pass: a variant each.
constexpr int kUnits[] = {2, 4};
/// What a block needs of shared memory, and what it takes: more than half, so that no
/// multiprocessor has two blocks while another has none (README.md: A few rows, in plans).
constexpr int kRoom = 113 * 1024, kTaken = 115 * 1024;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// As kernels/stream.cuh has them.
struct StreamShape {
  int columns, units, slices, vector;

  int cols() const { return kUnitRows * units; }
  int sums_bytes() const { return slices * 8 * columns * (cols() + 4) * 4; }
  int depth() const {
    return std::min(kMostDepth, (kRoom - sums_bytes()) / (slices * (kSlotBytes + 8)));
  }
  bool fits() const { return 32 * slices % (cols() / vector) == 0; }
};

StreamShape shape_of(const Product& product, int vector, uint8_t variant) {
  const size_t n_tiles = 2 * tile_configs().size();
  const size_t i = is_stream_variant(variant) ? variant - n_tiles - 1 : 0;
  return {static_cast<int>(ceil_div(product.dims.rows(), 8)), kUnits[i], product.n_slices, vector};
}

/// x as one box of all its rows a tile of K. A single row has no pitch of its own.
std::optional<TensorBoxes> rows_of_x(const Product& product) {
  const int64_t rows = product.dims.rows();
  ProductOperand a = product.a;
  if (rows == 1) {
    a.matrix.levels = 1;
    a.matrix.params.strides[0] = (product.k + 7) / 8 * 8;
  }
  return rows_along_k(product, a, rows, static_cast<int>(rows));
}

std::string source_of(const Product& product, const EpilogueCode& epilogue,
                      const StreamShape& shape) {
  return cat("#include \"base.cuh\"\n", epilogue.needs_points ? "#include \"points.cuh\"\n" : "",
             "#include \"gemm_params.h\"\n#include \"mma.cuh\"\n#include \"epilogue.cuh\"\n"
             "#include \"gemm_loaders.cuh\"\n#include \"stream.cuh\"\nusing Params = GemmParams<",
             epilogue.extras.size(), ">;\n", epilogue.text,
             "inline constexpr StreamConfig kConfig{", shape.columns, ", ", shape.units, ", ",
             shape.slices, ", ", shape.depth(), ", ", shape.vector,
             "};\nextern \"C\" __global__ void __launch_bounds__(", 32 * shape.slices,
             ", 2)\ntw_kernel(const __grid_constant__ Params p) {\n  run_stream<kConfig, ",
             device_type(product.dtype), ", Epilogue>(p);\n}\n");
}

}  // namespace

bool is_stream_variant(uint8_t variant) {
  return variant > 2 * tile_configs().size() && variant <= last_stream_variant();
}

int last_stream_variant() {
  return static_cast<int>(2 * tile_configs().size() + std::size(kUnits));
}

bool fits_stream(const TaskView& view, const Product& product) {
  if (size_bytes(product.dtype) != 2 || product.dims.rows() < 1 ||
      product.dims.rows() > kStreamRows || product.dims.cols() < 1 || product.dims.batch() != 1 ||
      product.dims.batch_dims() != 0)
    return false;
  const auto epilogue = make_epilogue(view, product.epilogue, product.dims);
  return epilogue.ok() && shape_of(product, epilogue.value().vector, view.record.variant).fits() &&
         rows_of_x(product).has_value() &&
         rows_along_k(product, product.b, product.dims.cols(), kUnitRows).has_value();
}

Result<std::vector<Launch>> launch_stream(const TaskView& view, const Product& product) {
  TRY(check_sizes(product));
  const EpilogueCode epilogue = TRY(make_epilogue(view, product.epilogue, product.dims));
  const StreamShape shape = shape_of(product, epilogue.vector, view.record.variant);
  const auto b = rows_along_k(product, product.b, product.dims.cols(), kUnitRows);
  const auto x = rows_of_x(product);
  CHECK(b.has_value() && x.has_value(), "the product is a stream");
  GemmParams<7> p = product_params(view, product);
  p.table_offset = shape.slices * shape.depth() * kSlotBytes;
  Launch launch = make_launch(source_of(product, epilogue, shape), p);
  point_at(launch, offsetof(GemmParams<7>, a), product.a.slot);
  point_at(launch, offsetof(GemmParams<7>, b), product.b.slot);
  finish_params(launch, p, epilogue, product.epilogue);
  const int64_t units = ceil_div(product.dims.cols(), kUnitRows);
  launch.grid = {static_cast<uint32_t>(std::min(units, kProcessors)), 1, 1};
  launch.threads = static_cast<uint32_t>(32 * shape.slices);
  launch.shared_bytes = kTaken;
  launch.boxes = {*x, *b};
  launch.boxes[0].offset = offsetof(GemmParams<7>, map_a);
  launch.boxes[1].offset = offsetof(GemmParams<7>, map_b);
  return std::vector<Launch>{std::move(launch)};
}

}  // namespace tw::cuda
