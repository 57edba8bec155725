// copy: a strided loop that moves pieces, over bytes where both sides lie along the row; or, where
// x and y are contiguous along different dims, a transpose in tiles.
#include "backends/cuda/kernels/copy_params.h"

#include <cstddef>

#include "backends/cuda/tasks/strided_loop.h"
#include "backends/cuda/tasks/tasks.h"

namespace tw::cuda {
namespace {

constexpr int64_t kMaxBlocks = 0x7fffffff;
// A dim shorter than this leaves most of a tile empty; the plain loop's reads then share lines.
constexpr int64_t kLeastSide = 8;

Launch loop_copy(StridedLoop loop) {
  if (loop.row_stride(0) == 1 && loop.row_stride(1) == 1) count_in_bytes(loop, {0, 1});
  const LoopPlan plan = plan_loop(loop);
  const std::string source =
      cat("#include \"base.cuh\"\n#include \"copy.cuh\"\n\ntemplate <int kN>\nstruct Work {\n  ",
          piece_type(loop, 0),
          " x;\n  template <class P, class At>\n  TW_DEVICE void load(const P& p, const At& at) {\n"
          "    x.load(p, 0, at);\n  }\n  template <class P, class At>\n"
          "  TW_DEVICE void finish(const P& p, const At& at) {\n    ",
          piece_type(loop, 1), " y;\n    move_piece(x, y, kN);\n    y.store(p, 1, at);\n  }\n};\n",
          loop_kernel(plan, "LoopParams"));
  return loop_launch<LoopParams>(loop, plan, source, [](auto&) {});
}

/// The dim along which x is contiguous while y is along the row; the row itself when tiles are of
/// no use.
size_t transposed_dim(const StridedLoop& loop) {
  const size_t row = loop.dims.size() - 1;
  if (loop.row_stride(1) != 1 || loop.row_stride(0) == 0 || loop.dims[row] < kLeastSide) return row;
  for (size_t d = 0; d < row; ++d)
    if (loop.operands[0].strides[d] == 1 && loop.dims[d] >= kLeastSide) return d;
  return row;
}

/// Whether every distance but the one along dim `along` is a multiple of 16 bytes.
bool rows_are_whole(const StridedLoop& loop, const LoopOperand& operand, size_t along) {
  bool whole = operand.offset_bytes % 16 == 0;
  for (size_t d = 0; d < loop.dims.size(); ++d)
    whole = whole && (d == along || operand.strides[d] * operand.element_bytes % 16 == 0);
  return whole;
}

/// Planes of dim `a` and the row. The second value is the number of blocks.
std::pair<TransposeParams, int64_t> transpose_params(const StridedLoop& loop, size_t a) {
  const LoopOperand &x = loop.operands[0], &y = loop.operands[1];
  const size_t b = loop.dims.size() - 1;
  const int64_t side = kTileBytes / x.element_bytes;
  TransposeParams p{};
  p.a = loop.dims[a];
  p.b = loop.dims[b];
  p.x_b = x.strides[b];
  p.y_a = y.strides[a];
  const int64_t tiles_a = (p.a + side - 1) / side, tiles_b = (p.b + side - 1) / side;
  p.tiles_a = make_divider(tiles_a);
  p.tiles_b = make_divider(tiles_b);
  p.whole_x = rows_are_whole(loop, x, a) ? 1 : 0;
  p.whole_y = rows_are_whole(loop, y, b) ? 1 : 0;
  int64_t n_blocks = tiles_a * tiles_b;
  for (size_t d = 0; d < b; ++d) {
    if (d == a) continue;
    p.outer[p.n_outer] = make_divider(loop.dims[d]);
    p.x_outer[p.n_outer] = x.strides[d];
    p.y_outer[p.n_outer] = y.strides[d];
    ++p.n_outer;
    n_blocks *= loop.dims[d];
  }
  return {p, n_blocks};
}

}  // namespace

Launches launch_task(const task::CopyTask& task, const TaskView& view) {
  std::vector<LoopOperand> operands = {loop_operand(view, task.x.id),
                                       loop_operand(view, task.y.id)};
  for (LoopOperand& operand : operands) operand.type = bits_type(operand.element_bytes);
  operands[1].is_output = true;
  const StridedLoop loop = make_loop(view.slot(task.y.id).shape(), operands);
  if (loop.empty()) return std::vector<Launch>{};
  const size_t a = transposed_dim(loop);
  if (a + 1 == loop.dims.size()) return std::vector<Launch>{loop_copy(loop)};
  const auto [params, n_blocks] = transpose_params(loop, a);
  if (n_blocks > kMaxBlocks) return std::vector<Launch>{loop_copy(loop)};
  Launch launch =
      make_launch(cat("#include \"base.cuh\"\n#include \"copy.cuh\"\n\n"
                      "extern \"C\" __global__ void __launch_bounds__(kTransposeThreads)\n"
                      "    tw_kernel(const __grid_constant__ TransposeParams p) {\n  transpose<",
                      operands[0].type, ">(p);\n}\n"),
                  params);
  point_at(launch, offsetof(TransposeParams, x), task.x.id);
  point_at(launch, offsetof(TransposeParams, y), task.y.id);
  launch.threads = kTransposeThreads;
  launch.grid[0] = static_cast<uint32_t>(n_blocks);
  return std::vector<Launch>{launch};
}

}  // namespace tw::cuda
