// access.h: which elements a tile of a task reads and writes, in the coordinates of a slot.
#pragma once

#include <vector>

#include "task/slot.h"

namespace tw::task {

/// The coordinates begin[d] <= x[d] < end[d]; 0-d slots have one element.
struct Box {
  Dims begin, end;
  static Box whole(const SlotInfo& slot);
  int64_t count() const;
  bool overlaps(const Box& other) const;
  /// The common part; empty (count() == 0) when there is none.
  Box intersect(const Box& other) const;
  friend bool operator==(const Box&, const Box&) = default;
};

enum class Mode : uint8_t {
  kRead,
  kWrite,
  kReadWrite
};

struct Access {
  SlotId slot = kNoSlot;
  Mode mode = Mode::kRead;
  Box box;
  bool writes() const { return mode != Mode::kRead; }
  bool reads() const { return mode != Mode::kWrite; }
};
using AccessList = std::vector<Access>;

/// How a tensor is cut into tiles: one index on each dim before `axis`, `chunk` of `axis`, all of
/// the dims behind it. It follows from the dims alone, so that every machine and thread count cuts
/// alike.
struct Tiling {
  Dims dims;
  int64_t axis = 0;
  int64_t chunk = 1;
  int64_t n_chunks = 1;
  int64_t n_tiles = 1;  // 0 for an empty tensor
  /// Cuts `dims` into tiles of about `target` elements. Only the first `n_outer` dims may be cut.
  static Tiling make(const Dims& dims, size_t n_outer, int64_t target = 16384);
  Box tile(int64_t i) const;
};

}  // namespace tw::task
