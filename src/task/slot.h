// slot.h: a program's buffers. A slot is a typed, strided window on storage; a view is a slot whose
// storage is another's.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "base/dtype.h"
#include "base/fixed_list.h"

namespace tw::task {

/// Index into Program::slots.
enum class SlotId : uint16_t {
};
inline constexpr SlotId kNoSlot{0xffff};
constexpr size_t index(SlotId id) { return static_cast<size_t>(id); }

/// Operands of a task. The type says the role; the builder and the verifier read nothing else.
struct In {
  SlotId id = kNoSlot;
};
struct Out {
  SlotId id = kNoSlot;
};
struct InOut {
  SlotId id = kNoSlot;
};  // reads and writes the same elements, in place

/// Where a slot's storage comes from.
enum class Space : uint8_t {
  kArena,   // placed by the memory planner
  kWeight,  // in the plan; immutable
  kInput,   // bound by the caller, read only
  kOutput,  // bound by the caller
  kState,   // read and written, kept from run to run
};

/// How bytes follow from coordinates. Everything but kStrided is opaque: whole tensors only, made
/// by a backend's pack().
enum class Layout : uint8_t {
  kStrided,
  kPanels,  // gemm/conv weights in panels as this plan's target packs them
};

/// 192 bytes, the same in the plan file and in memory. Strides count elements. A view's offset
/// counts from its root's start; a root's offset counts from the start of its space (arena,
/// weights).
struct SlotInfo {
  Space space = Space::kArena;
  DType dtype = DType::kF32;
  Layout layout = Layout::kStrided;
  uint8_t rank = 0;
  uint8_t place = 0;      // 0 host, 1 + r device r
  uint8_t flags = 0;      // kImmutable, kView
  SlotId root = kNoSlot;  // itself for storage, else the slot whose storage this one windows
  int64_t dims[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};
  int64_t offset_bytes = 0;
  int64_t storage_bytes = 0;  // roots only
  uint64_t reserved[5] = {};

  static constexpr uint8_t kImmutable = 1;
  static constexpr uint8_t kView = 2;
  Dims shape() const {
    Dims out;
    for (int i = 0; i < rank; ++i) out.push_back(dims[i]);
    return out;
  }
  int64_t count() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dims[i];
    return n;
  }
  bool immutable() const { return (flags & kImmutable) != 0; }
  bool is_view() const { return (flags & kView) != 0; }
  /// From the root's start.
  int64_t offset_in_root() const { return is_view() ? offset_bytes : 0; }
};
static_assert(sizeof(SlotInfo) == 192 && std::is_trivially_copyable_v<SlotInfo>);

/// True when the elements lie row-major without gaps (dims of size 1 have no say).
bool is_contiguous(const SlotInfo& slot);
/// Row-major strides of `dims`.
Dims contiguous_strides(const Dims& dims);

/// Byte range [begin, end) that the elements of `box` (or of the whole slot) can touch, counted
/// from the root's start.
struct ByteRange {
  int64_t begin = 0, end = 0;
  bool empty() const { return end <= begin; }
  bool overlaps(const ByteRange& other) const { return begin < other.end && other.begin < end; }
};
struct Box;
ByteRange byte_range(const SlotInfo& slot, const Box& box);

}  // namespace tw::task
