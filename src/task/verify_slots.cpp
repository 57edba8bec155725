#include "task/verify_slots.h"

#include <algorithm>
#include <optional>

#include "base/tensor.h"

namespace tw::task {
namespace {

/// The bytes that the whole slot can touch, from its root's start; nothing when a number on the way
/// passes 2^63. Kernels multiply every stride, that of a dim of 1 and beside a dim of 0 too.
std::optional<ByteRange> checked_range(const SlotInfo& slot) {
  const int64_t element = size_bytes(slot.dtype);
  int64_t low = slot.offset_in_root(), high = low;
  for (int d = 0; d < slot.rank; ++d) {
    int64_t step = 0, behind = 0;
    if (__builtin_mul_overflow(slot.strides[d], element, &step) ||
        __builtin_mul_overflow(step, std::max<int64_t>(1, slot.dims[d]), &behind) ||
        __builtin_add_overflow(step < 0 ? low : high, behind - step, step < 0 ? &low : &high))
      return std::nullopt;
  }
  if (slot.count() == 0) return ByteRange{};
  if (__builtin_add_overflow(high, element, &high)) return std::nullopt;
  return ByteRange{low, high};
}

/// Some task has an operand on this storage.
bool is_used(const Program& program, size_t root) {
  return std::any_of(program.records.begin(), program.records.end(), [&](const Record& r) {
    return std::any_of(std::begin(r.operands), std::end(r.operands), [&](SlotId id) {
      return index(id) < program.slots.size() && index(program.slot(id).root) == root;
    });
  });
}

Error wrong(const Program& program, size_t slot, std::string_view why) {
  return error(Code::kCorrupt, describe_slot(program, slot), ": ", why);
}

// The sum of two sizes is a number then: tiles are counted by rounding up.
constexpr int64_t kMaxSlotBytes = int64_t{1} << 62;

/// No dim is negative and the size is a number, that of the dims beside a dim of 0 too. Every
/// program is looked at so before its first run: nothing is allocated here.
bool has_size(const SlotInfo& slot) {
  int64_t bytes = size_bytes(slot.dtype);
  for (int d = 0; d < slot.rank; ++d)
    if (slot.dims[d] < 0 ||
        __builtin_mul_overflow(bytes, std::max<int64_t>(1, slot.dims[d]), &bytes))
      return false;
  return bytes <= kMaxSlotBytes;
}

Result<void> check_size(const Program& program, size_t i) {
  const SlotInfo& s = program.slots[i];
  if (has_size(s)) return {};
  const auto bytes = checked_bytes(s.dtype, s.shape());
  if (!bytes.ok()) return wrong(program, i, bytes.error().message);
  return wrong(program, i, cat(s.dtype, "[", join(s.shape(), ","), "] passes 2^62 bytes"));
}

/// What a slot says of itself makes sense.
Result<void> check_description(const Program& program, size_t i) {
  const SlotInfo& s = program.slots[i];
  if (static_cast<int>(s.space) > static_cast<int>(Space::kState) ||
      static_cast<int>(s.dtype) >= kDTypeCount || s.rank > kMaxRank ||
      static_cast<int>(s.layout) > static_cast<int>(Layout::kPanels))
    return wrong(program, i, "unknown space, type, layout or rank");
  if (index(s.root) >= program.slots.size())
    return wrong(program, i, cat("root ", index(s.root), " is not a slot"));
  const SlotInfo& root = program.slots[index(s.root)];
  if (index(root.root) != index(s.root) || s.is_view() == (index(s.root) == i))
    return wrong(program, i, "is neither storage nor a view of storage");
  if (s.space != root.space || s.place != root.place || s.immutable() != root.immutable())
    return wrong(program, i, "differs from its root in space, place or mutability");
  return check_size(program, i);
}

/// A slot lies inside its storage, and storage inside its space.
Result<void> check_storage(const Program& program, size_t i) {
  const SlotInfo& s = program.slots[i];
  const SlotInfo& root = program.slots[index(s.root)];
  if (s.layout == Layout::kStrided) {
    const std::optional<ByteRange> range = checked_range(s);
    if (!range) return wrong(program, i, "its strides reach past 2^63 bytes");
    if (s.is_view() && s.offset_bytes % size_bytes(s.dtype) != 0)
      return wrong(program, i, cat("offset ", s.offset_bytes, " lies between elements"));
    if (range->begin < 0 || range->end > root.storage_bytes)
      return wrong(program, i,
                   cat("bytes ", range->begin, " to ", range->end, " lie outside the storage of ",
                       root.storage_bytes));
  }
  // The caller binds exactly the tensor: a root that claims more would reach past it.
  const int64_t bytes = s.count() * size_bytes(s.dtype);
  if ((s.space == Space::kInput || s.space == Space::kOutput) && !s.is_view() &&
      (s.offset_bytes != 0 || s.storage_bytes > bytes))
    return wrong(program, i,
                 cat("claims ", s.storage_bytes, " bytes at ", s.offset_bytes, ", expected ", bytes,
                     " at 0"));
  if (s.space != Space::kArena || s.is_view()) return {};
  const bool fits = s.offset_bytes >= 0 && s.offset_bytes % 64 == 0 && s.storage_bytes >= 0 &&
                    s.storage_bytes <= program.arena_bytes &&
                    s.offset_bytes <= program.arena_bytes - s.storage_bytes;
  if (fits || !is_used(program, i)) return {};
  return wrong(program, i,
               cat("offset ", s.offset_bytes, " and ", s.storage_bytes,
                   " bytes do not fit the arena of ", program.arena_bytes));
}

}  // namespace

std::string describe_slot(const Program& program, size_t slot) {
  return slot < program.slot_names.size() && !program.slot_names[slot].empty()
             ? cat("'", program.slot_names[slot], "'")
             : cat("slot ", slot);
}

Result<void> verify_sizes(const Program& program) {
  for (size_t i = 0; i < program.slots.size(); ++i) TRY(check_size(program, i));
  return {};
}

Result<void> verify_slots(const Program& program) {
  if (program.arena_bytes < 0)
    return error(Code::kCorrupt, "an arena of ", program.arena_bytes, " bytes");
  for (size_t i = 0; i < program.slots.size(); ++i) {
    TRY(check_description(program, i));
    TRY(check_storage(program, i));
  }
  return {};
}

}  // namespace tw::task
