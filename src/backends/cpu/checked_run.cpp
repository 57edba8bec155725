// checked_run.cpp: the independent check of what tasks declare. Each tile runs twice, in buffers of
// its own that hold poison but for the elements it declares to read, with another poison each time.
// Then: nothing outside the declared writes may have changed, and the declared writes must be equal
// in both runs. An element that was not written, or was made from one that was not declared,
// differs.
#include <algorithm>
#include <cstring>
#include <map>

#include "backends/cpu/executor.h"

namespace tw::cpu {
namespace {

constexpr unsigned char kPoisons[2] = {0xff, 0x5a};

/// visit(byte offset from the element with all coordinates 0, coordinates) for each element of a
/// box.
template <class Visit>
void for_each_element(const task::SlotInfo& slot, const task::Box& box, Visit&& visit) {
  if (box.count() == 0) return;
  const int64_t element = size_bytes(slot.dtype);
  Dims at = box.begin;
  while (true) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * slot.strides[d] * element;
    visit(offset, at);
    size_t d = at.size();
    for (; d > 0; --d) {
      if (++at[d - 1] < box.end[d - 1]) break;
      at[d - 1] = box.begin[d - 1];
    }
    if (d == 0) return;
  }
}

/// A tile's own copy of the storage that its operands lie in.
class Isolation {
 public:
  Isolation(const task::Program& program, const task::Record& record,
            std::span<std::byte* const> real, unsigned char poison)
      : program_(program), real_(real), addresses_(real.size(), nullptr) {
    std::map<task::SlotId, task::ByteRange> ranges;  // by root, counted from its start
    for (const task::Operand& operand : task::operands(record)) {
      const task::ByteRange range = range_of(operand.slot);
      auto [it, is_new] = ranges.try_emplace(program.slot(operand.slot).root, range);
      it->second.begin = std::min(it->second.begin, range.begin);
      it->second.end = std::max(it->second.end, range.end);
    }
    for (const auto& [root, range] : ranges) {
      const auto bytes = static_cast<size_t>(std::max<int64_t>(0, range.end - range.begin));
      buffers_[root].assign(bytes + kAlignment, std::byte{poison});
      windows_[root] = aligned(buffers_[root], range.begin) - range.begin;
    }
    for (const task::Operand& operand : task::operands(record)) {
      const task::SlotId root = program.slot(operand.slot).root;
      addresses_[task::index(operand.slot)] = windows_[root] + offset_of(operand.slot);
    }
  }

  std::span<std::byte* const> addresses() const { return addresses_; }

  void copy_in(const task::Access& access) const { copy(access, real_, addresses_); }
  void copy_out(const task::Access& access) const { copy(access, addresses_, real_); }

  /// The bytes of all buffers, to compare with later ones.
  std::map<task::SlotId, std::vector<std::byte>> snapshot() const { return buffers_; }

  /// Where a byte of a root's buffer lies, counted from the root's start.
  int64_t place_of_byte(task::SlotId root, int64_t byte) {
    return byte - (windows_[root] - buffers_[root].data());
  }

  /// Overwrites the declared writes with what `before` holds there: what still differs was not
  /// declared.
  void undo(const task::Access& access, std::map<task::SlotId, std::vector<std::byte>>& before) {
    const task::SlotInfo& slot = program_.slot(access.slot);
    std::vector<std::byte>& now = buffers_[slot.root];
    const std::vector<std::byte>& old = before[slot.root];
    const auto element = static_cast<size_t>(size_bytes(slot.dtype));
    for_each_element(slot, access.box, [&](int64_t offset, const Dims&) {
      const auto at =
          static_cast<size_t>(addresses_[task::index(access.slot)] + offset - now.data());
      std::memcpy(now.data() + at, old.data() + at, element);
    });
  }

 private:
  static constexpr size_t kAlignment = 64;

  int64_t offset_of(task::SlotId id) const {
    const task::SlotInfo& slot = program_.slot(id);
    return slot.root == id ? 0 : slot.offset_bytes;
  }

  task::ByteRange range_of(task::SlotId id) const {
    task::SlotInfo slot = program_.slot(id);
    slot.offset_bytes = offset_of(id);
    return task::byte_range(slot, task::Box::whole(slot));
  }

  /// As aligned as the real storage: an address whose distance to a multiple of 64 is that of
  /// `begin`.
  static std::byte* aligned(std::vector<std::byte>& buffer, int64_t begin) {
    const auto at = reinterpret_cast<uintptr_t>(buffer.data());
    const auto want = static_cast<uintptr_t>(begin) % kAlignment;
    return buffer.data() + (want + kAlignment - at % kAlignment) % kAlignment;
  }

  void copy(const task::Access& access, std::span<std::byte* const> from,
            std::span<std::byte* const> to) const {
    const task::SlotInfo& slot = program_.slot(access.slot);
    const size_t i = task::index(access.slot);
    if (slot.layout != task::Layout::kStrided) {
      std::memcpy(to[i], from[i], static_cast<size_t>(slot.storage_bytes));
      return;
    }
    const auto element = static_cast<size_t>(size_bytes(slot.dtype));
    for_each_element(slot, access.box, [&](int64_t offset, const Dims&) {
      std::memcpy(to[i] + offset, from[i] + offset, element);
    });
  }

  const task::Program& program_;
  std::span<std::byte* const> real_;
  std::vector<std::byte*> addresses_;
  std::map<task::SlotId, std::vector<std::byte>> buffers_;
  std::map<task::SlotId, std::byte*> windows_;  // where the root's start is, or would be
};

std::string slot_text(const task::Program& program, task::SlotId id) {
  const size_t i = task::index(id);
  return i < program.slot_names.size() ? cat("slot ", i, " '", program.slot_names[i], "'")
                                       : cat("slot ", i);
}

/// Both runs wrote the same to every declared element.
Result<void> compare(const task::Program& program, const task::Access& access, const Isolation& a,
                     const Isolation& b) {
  const task::SlotInfo& slot = program.slot(access.slot);
  const auto element = static_cast<size_t>(size_bytes(slot.dtype));
  const std::byte* left = a.addresses()[task::index(access.slot)];
  const std::byte* right = b.addresses()[task::index(access.slot)];
  Result<void> result;
  for_each_element(slot, access.box, [&](int64_t offset, const Dims& at) {
    if (!result.ok() || std::memcmp(left + offset, right + offset, element) == 0) return;
    const bool untouched = std::all_of(left + offset, left + offset + element,
                                       [](std::byte v) { return v == std::byte{kPoisons[0]}; }) &&
                           std::all_of(right + offset, right + offset + element,
                                       [](std::byte v) { return v == std::byte{kPoisons[1]}; });
    result = error(Code::kInternal, slot_text(program, access.slot), " at [", join(at, ","),
                   untouched ? "] is declared written, but is not"
                             : "] depends on elements that are not declared read");
  });
  return result;
}

/// The root whose bytes changed although no declared write covers them.
Result<void> check_undeclared(const task::Program& program, const task::AccessList& list,
                              Isolation& isolation,
                              std::map<task::SlotId, std::vector<std::byte>> before) {
  for (const task::Access& access : list) {
    if (access.writes()) isolation.undo(access, before);
  }
  for (const auto& [root, now] : isolation.snapshot()) {
    const std::vector<std::byte>& old = before[root];
    const auto differ = std::mismatch(now.begin(), now.end(), old.begin());
    if (differ.first == now.end()) continue;
    return error(Code::kInternal, slot_text(program, root), ": byte ",
                 isolation.place_of_byte(root, differ.first - now.begin()),
                 " is written, but not declared written");
  }
  return {};
}

Result<void> check_tile(const Executor& executor, const task::Record& record,
                        std::span<std::byte* const> real, Workspace& workspace) {
  const task::Program& program = executor.program();
  task::AccessList list;
  task::access(record, program.slots, list);
  Isolation runs[2] = {{program, record, real, kPoisons[0]}, {program, record, real, kPoisons[1]}};
  std::map<task::SlotId, std::vector<std::byte>> before;
  for (Isolation& isolation : runs) {
    for (const task::Access& access : list) {
      if (access.reads()) isolation.copy_in(access);
    }
    if (&isolation == runs) before = isolation.snapshot();
    const TaskContext context{program.slots,       isolation.addresses(), program.side,
                              &executor.kernels(), &workspace.scratch(0), nullptr};
    TRY(run_tiles(record, context, record.tile_begin, record.tile_end));
  }
  for (const task::Access& access : list) {
    if (access.writes()) TRY(compare(program, access, runs[0], runs[1]));
  }
  for (const task::Access& access : list) {
    if (access.writes()) runs[0].copy_out(access);
  }
  return check_undeclared(program, list, runs[0], std::move(before));
}

}  // namespace

Result<void> run_checked(const Executor& executor, std::span<std::byte* const> addresses,
                         Workspace& workspace) {
  for (const Executor::Step& step : executor.steps()) {
    task::Record tile = *step.record;
    for (uint32_t i = step.record->tile_begin; i < step.record->tile_end; ++i) {
      tile.tile_begin = i;
      tile.tile_end = i + 1;
      Result<void> result = check_tile(executor, tile, addresses, workspace);
      if (result.ok()) continue;
      return std::move(result).in(cat(describe(executor.program(), tile), " tile ", i));
    }
  }
  return {};
}

}  // namespace tw::cpu
