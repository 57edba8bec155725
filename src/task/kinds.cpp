// How each kind is cut into tiles and which boxes a tile touches. Cuts follow from the dims alone:
// the same on every machine.
#include "task/kinds.h"

#include <algorithm>

namespace tw::task {
namespace {

const SlotInfo& at(Slots slots, SlotId id) { return slots[index(id)]; }
bool present(In operand) { return operand.id != kNoSlot; }

void read(AccessList& list, SlotId slot, Box box) {
  if (slot != kNoSlot) list.push_back({slot, Mode::kRead, std::move(box)});
}
void read_whole(AccessList& list, Slots slots, SlotId slot) {
  if (slot != kNoSlot) list.push_back({slot, Mode::kRead, Box::whole(at(slots, slot))});
}
void write(AccessList& list, SlotId slot, Box box) {
  if (slot != kNoSlot) list.push_back({slot, Mode::kWrite, std::move(box)});
}

/// The part of a broadcast operand that belongs to `box` of the result: aligned at the last dim,
/// dims of 1 repeat.
Box broadcast_box(const SlotInfo& operand, const Box& box) {
  Box part = Box::whole(operand);
  const size_t shift = box.begin.size() - part.begin.size();
  for (size_t d = 0; d < part.begin.size(); ++d) {
    if (operand.dims[d] == 1) continue;
    part.begin[d] = box.begin[d + shift];
    part.end[d] = box.end[d + shift];
  }
  return part;
}

constexpr int64_t kRowTileElements = 16384;

/// Tiles of whole rows (the last `n_inner` dims are never cut).
Tiling row_tiling(const SlotInfo& slot, size_t n_inner = 1) {
  const size_t n_outer = slot.rank > n_inner ? slot.rank - n_inner : 0;
  return Tiling::make(slot.shape(), n_outer, kRowTileElements);
}

}  // namespace

// gemm: a tile is one batch, a block of rows, a block of columns.
struct GemmGrid {
  Dims batch;
  int64_t rows, cols, row_blocks, col_blocks;
};

static GemmGrid gemm_grid(const GemmTask& task, Slots slots) {
  const Dims c = at(slots, task.c.id).shape();
  GemmGrid grid{{}, 0, 0, 0, 0};
  for (size_t d = 0; d + 2 < c.size(); ++d) grid.batch.push_back(c[d]);
  const int64_t m = c[c.size() - 2], n = c[c.size() - 1];
  // Blocks of 48 rows divide by every register tile (4, 6, 8, 12); 256 columns keep a block of b in
  // the second-level cache.
  grid.rows = task.tile_rows > 0 ? task.tile_rows : 48;
  grid.cols = task.tile_cols > 0 ? task.tile_cols : 256;
  grid.row_blocks = (m + grid.rows - 1) / grid.rows;
  grid.col_blocks = (n + grid.cols - 1) / grid.cols;
  return grid;
}

int64_t GemmTask::n_tiles(Slots slots) const {
  const GemmGrid grid = gemm_grid(*this, slots);
  return element_count(grid.batch) * grid.row_blocks * grid.col_blocks;
}

/// Column blocks run fastest.
Box GemmTask::tile(Slots slots, int64_t i) const {
  const GemmGrid grid = gemm_grid(*this, slots);
  const Dims c_dims = at(slots, c.id).shape();
  Box box;
  box.begin.resize(c_dims.size());
  box.end = c_dims;
  const size_t row = c_dims.size() - 2, col = c_dims.size() - 1;
  box.begin[col] = i % grid.col_blocks * grid.cols;
  box.end[col] = std::min(c_dims[col], box.begin[col] + grid.cols);
  i /= grid.col_blocks;
  box.begin[row] = i % grid.row_blocks * grid.rows;
  box.end[row] = std::min(c_dims[row], box.begin[row] + grid.rows);
  i /= grid.row_blocks;
  for (size_t d = row; d-- > 0;) {
    box.begin[d] = i % c_dims[d];
    box.end[d] = box.begin[d] + 1;
    i /= c_dims[d];
  }
  return box;
}

void GemmTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  const size_t col = box.begin.size() - 1;
  const SlotInfo& left = at(slots, a.id);
  Box rows = broadcast_box(left, box);
  rows.begin[left.rank - 1U] = 0;
  rows.end[left.rank - 1U] = left.dims[left.rank - 1];
  read(list, a.id, rows);
  const SlotInfo& right = at(slots, b.id);
  Box cols = broadcast_box(right, box);
  const size_t k_dim = transpose_b != 0 ? right.rank - 1U : right.rank - 2U;
  const size_t n_dim = transpose_b != 0 ? right.rank - 2U : right.rank - 1U;
  cols.begin[k_dim] = 0;
  cols.end[k_dim] = right.dims[k_dim];
  cols.begin[n_dim] = box.begin[col];
  cols.end[n_dim] = box.end[col];
  read(list, b.id, cols);
  if (present(bias)) {
    Box part = Box::whole(at(slots, bias.id));
    part.begin[part.begin.size() - 1] = box.begin[col];
    part.end[part.end.size() - 1] = box.end[col];
    read(list, bias.id, part);
  }
  for (const In operand : extra)
    if (present(operand)) read(list, operand.id, broadcast_box(at(slots, operand.id), box));
  write(list, c.id, box);
}

// conv: a tile is one image and a block of output rows (of the first spatial dim), all channels.
// Where a pixel is many products (a weight of millions), few pixels make a tile that is worth a
// turn, so that small pictures are shared between threads too.
static Tiling conv_tiling(const ConvTask& task, Slots slots) {
  constexpr int64_t kProducts = 32 << 20, kFewestPixels = 32, kMostPixels = 512;
  const SlotInfo& y = at(slots, task.y.id);
  const int64_t products = std::max<int64_t>(1, at(slots, task.w.id).count());  // of a pixel
  const int64_t wanted = std::clamp(kProducts / products, kFewestPixels, kMostPixels);
  const int64_t pixels = task.tile_pixels > 0 ? task.tile_pixels : wanted;
  const int64_t channels = y.dims[y.rank - 1];
  return Tiling::make(y.shape(), 2, std::max<int64_t>(1, pixels * channels));
}

int64_t ConvTask::n_tiles(Slots slots) const { return conv_tiling(*this, slots).n_tiles; }

/// Input coordinates of the first spatial dim that outputs [begin, end) can read.
static void window(Box& box, const SlotInfo& x, int64_t begin, int64_t end, int64_t kernel,
                   int64_t stride, int64_t dilation, int64_t pad) {
  const int64_t extent = x.dims[1];
  box.begin[1] = std::clamp<int64_t>(begin * stride - pad, 0, extent);
  box.end[1] = std::clamp<int64_t>((end - 1) * stride - pad + (kernel - 1) * dilation + 1,
                                   box.begin[1], extent);
}

Box ConvTask::tile(Slots slots, int64_t i) const { return conv_tiling(*this, slots).tile(i); }

void ConvTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  const SlotInfo& in = at(slots, x.id);
  Box part = Box::whole(in);
  part.begin[0] = box.begin[0];
  part.end[0] = box.end[0];
  window(part, in, box.begin[1], box.end[1], kernel[0], stride[0], dilation[0], pad[0]);
  read(list, x.id, part);
  read_whole(list, slots, w.id);
  read_whole(list, slots, bias.id);
  for (const In operand : extra)
    if (present(operand)) read(list, operand.id, broadcast_box(at(slots, operand.id), box));
  write(list, y.id, box);
}

int64_t PoolTask::n_tiles(Slots slots) const {
  return Tiling::make(at(slots, y.id).shape(), 2, kRowTileElements).n_tiles;
}

Box PoolTask::tile(Slots slots, int64_t i) const {
  return Tiling::make(at(slots, y.id).shape(), 2, kRowTileElements).tile(i);
}

void PoolTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  const SlotInfo& in = at(slots, x.id);
  Box part = Box::whole(in);
  part.begin[0] = box.begin[0];
  part.end[0] = box.end[0];
  window(part, in, box.begin[1], box.end[1], kernel[0], stride[0], dilation[0], pad[0]);
  read(list, x.id, part);
  write(list, y.id, box);
}

// attention: a tile is one sequence, one head, a block of queries. Blocks of 64 keep scores in the
// first-level cache.
static constexpr int64_t kQueryBlock = 64;

Box AttentionTask::tile(Slots slots, int64_t i) const {
  const Dims dims = at(slots, y.id).shape();
  const int64_t blocks = (dims[1] + kQueryBlock - 1) / kQueryBlock;
  const int64_t block = i % blocks, head = i / blocks % dims[2], batch = i / blocks / dims[2];
  return {{batch, block * kQueryBlock, head, 0},
          {batch + 1, std::min(dims[1], (block + 1) * kQueryBlock), head + 1, dims[3]}};
}

int64_t AttentionTask::n_tiles(Slots slots) const {
  const Dims dims = at(slots, y.id).shape();
  return dims[0] * dims[2] * ((dims[1] + kQueryBlock - 1) / kQueryBlock) * (dims[3] > 0 ? 1 : 0);
}

void AttentionTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  Box query = box;
  query.end[3] = at(slots, q.id).dims[3];
  read(list, q.id, query);
  for (const In operand : {k, v}) {
    const SlotInfo& keys = at(slots, operand.id);
    const int64_t group = at(slots, q.id).dims[2] / std::max<int64_t>(1, keys.dims[2]);
    const int64_t head = box.begin[2] / std::max<int64_t>(1, group);
    read(list, operand.id,
         {{box.begin[0], 0, head, 0}, {box.end[0], keys.dims[1], head + 1, keys.dims[3]}});
  }
  if (present(mask)) {
    const SlotInfo& m = at(slots, mask.id);
    const Box scores{{box.begin[0], box.begin[2], box.begin[1], 0},
                     {box.end[0], box.end[2], box.end[1], at(slots, k.id).dims[1]}};
    read(list, mask.id, broadcast_box(m, scores));
  }
  write(list, y.id, box);
}

int64_t NormTask::n_tiles(Slots slots) const { return row_tiling(at(slots, y.id)).n_tiles; }

Box NormTask::tile(Slots slots, int64_t i) const { return row_tiling(at(slots, y.id)).tile(i); }

void NormTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  read(list, x.id, box);
  read_whole(list, slots, scale.id);
  read_whole(list, slots, bias.id);
  write(list, y.id, box);
  Box row = box;
  row.end[row.end.size() - 1] = 1;
  write(list, mean.id, row);
  write(list, inv_std.id, row);
}

int64_t SoftmaxTask::n_tiles(Slots slots) const { return row_tiling(at(slots, y.id)).n_tiles; }

Box SoftmaxTask::tile(Slots slots, int64_t i) const { return row_tiling(at(slots, y.id)).tile(i); }

void SoftmaxTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  read(list, x.id, box);
  write(list, y.id, box);
}

int64_t ElementwiseTask::n_tiles(Slots slots) const {
  return row_tiling(at(slots, y[0].id), 0).n_tiles;
}

Box ElementwiseTask::tile(Slots slots, int64_t i) const {
  return row_tiling(at(slots, y[0].id), 0).tile(i);
}

void ElementwiseTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  for (const In operand : x)
    if (present(operand)) read(list, operand.id, broadcast_box(at(slots, operand.id), box));
  for (const Out operand : y) write(list, operand.id, box);
}

// reduce: a tile is a box of y; x is read along the whole of the reduced axes.
static Tiling reduce_tiling(const ReduceTask& task, Slots slots) {
  const SlotInfo& x = at(slots, task.x.id);
  const SlotInfo& y = at(slots, task.y.id);
  const int64_t per_element = std::max<int64_t>(1, x.count() / std::max<int64_t>(1, y.count()));
  return Tiling::make(y.shape(), y.rank, std::max<int64_t>(1, kRowTileElements / per_element));
}

int64_t ReduceTask::n_tiles(Slots slots) const { return reduce_tiling(*this, slots).n_tiles; }

Box ReduceTask::tile(Slots slots, int64_t i) const { return reduce_tiling(*this, slots).tile(i); }

void ReduceTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  Box part = box;
  for (size_t d = 0; d < part.begin.size(); ++d)
    if ((axes >> d & 1U) != 0) part.begin[d] = 0, part.end[d] = at(slots, x.id).dims[d];
  read(list, x.id, part);
  write(list, y.id, box);
}

int64_t GatherTask::n_tiles(Slots slots) const { return row_tiling(at(slots, y.id), 0).n_tiles; }

Box GatherTask::tile(Slots slots, int64_t i) const {
  return row_tiling(at(slots, y.id), 0).tile(i);
}

void GatherTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  read_whole(list, slots, x.id);  // which elements depends on data
  read_whole(list, slots, index.id);
  write(list, y.id, box);
}

void ScatterTask::access(Slots slots, int64_t, AccessList& list) const {
  read_whole(list, slots, index.id);
  read_whole(list, slots, updates.id);
  list.push_back({y.id, Mode::kReadWrite, Box::whole(at(slots, y.id))});
}

int64_t CopyTask::n_tiles(Slots slots) const { return row_tiling(at(slots, y.id), 0).n_tiles; }

Box CopyTask::tile(Slots slots, int64_t i) const { return row_tiling(at(slots, y.id), 0).tile(i); }

void CopyTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  read(list, x.id, box);
  write(list, y.id, box);
}

int64_t ResizeTask::n_tiles(Slots slots) const {
  return Tiling::make(at(slots, y.id).shape(), 2, kRowTileElements).n_tiles;
}

Box ResizeTask::tile(Slots slots, int64_t i) const {
  return Tiling::make(at(slots, y.id).shape(), 2, kRowTileElements).tile(i);
}

void ResizeTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  Box part = Box::whole(
      at(slots, x.id));  // rows that a filter reaches are not worth telling apart from the image
  part.begin[0] = box.begin[0];
  part.end[0] = box.end[0];
  read(list, x.id, part);
  write(list, y.id, box);
}

void RecurrentTask::access(Slots slots, int64_t, AccessList& list) const {
  for (const In operand : {x, w, r, bias, lengths, h0, c0, peephole})
    read_whole(list, slots, operand.id);
  for (const Out operand : {y, h, c})
    if (operand.id != kNoSlot) write(list, operand.id, Box::whole(at(slots, operand.id)));
}

void NonZeroTask::access(Slots slots, int64_t, AccessList& list) const {
  read_whole(list, slots, x.id);
  write(list, y.id, Box::whole(at(slots, y.id)));
  write(list, count.id, Box::whole(at(slots, count.id)));
}

int64_t SortTask::n_tiles(Slots slots) const { return row_tiling(at(slots, x.id)).n_tiles; }

Box SortTask::tile(Slots slots, int64_t i) const { return row_tiling(at(slots, x.id)).tile(i); }

void SortTask::access(Slots slots, int64_t i, AccessList& list) const {
  Box box = tile(slots, i);
  read(list, x.id, box);
  box.end[box.end.size() - 1] = at(slots, index.id).dims[box.end.size() - 1];
  write(list, values.id, box);
  write(list, index.id, box);
}

// scan: every dim but `axis` may be cut; the tile keeps the axis whole.
static Tiling scan_tiling(const ScanTask& task, Slots slots) {
  return Tiling::make(at(slots, task.y.id).shape(), static_cast<size_t>(task.axis),
                      kRowTileElements);
}

int64_t ScanTask::n_tiles(Slots slots) const { return scan_tiling(*this, slots).n_tiles; }

Box ScanTask::tile(Slots slots, int64_t i) const { return scan_tiling(*this, slots).tile(i); }

void ScanTask::access(Slots slots, int64_t i, AccessList& list) const {
  const Box box = tile(slots, i);
  read(list, x.id, box);
  write(list, y.id, box);
}

}  // namespace tw::task
