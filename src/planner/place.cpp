#include "planner/place.h"

#include <map>

namespace tw::planner {
namespace {

using task::Mode;
using task::SlotId;

class Placer {
 public:
  Placer(const task::Draft& draft, const std::vector<uint8_t>& places)
      : source_(draft), places_(places), draft_(draft) {
    draft_.tasks.clear();
    version_.resize(draft.slots.size(), 0);
  }

  Result<task::Draft> run() {
    choose_homes();
    for (size_t t = 0; t < source_.tasks.size(); ++t)
      TRY(add(source_.tasks[t], places_[t]).in(source_.tasks[t].name));
    return std::move(draft_);
  }

 private:
  /// A root lives on the device when a device task writes it, an input when one reads it.
  void choose_homes() {
    for (size_t t = 0; t < source_.tasks.size(); ++t) {
      if (places_[t] != kDevice) continue;
      for (const task::Operand& operand : task::operands(source_.tasks[t].record)) {
        const SlotId root = slot(operand.slot).info.root;
        const bool input = slot(root).info.space == task::Space::kInput;
        if (operand.mode != Mode::kRead || input) slot(root).info.place = kDevice;
      }
    }
    for (task::Draft::Slot& one : draft_.slots)
      one.info.place = draft_.slots[task::index(one.info.root)].info.place;
  }

  Result<void> add(task::Draft::Task one, uint8_t place) {
    struct Later {
      SlotId from, to;
    };
    std::vector<Later> later;
    for (SlotId& id : one.record.operands) {
      if (id == task::kNoSlot) continue;
      const task::SlotInfo info = slot(id).info;
      if (info.space == task::Space::kWeight) {
        if (place == kHost && info.layout != task::Layout::kStrided)
          return error(Code::kUnsupported,
                       "the task runs on the host but its weight is packed for the device");
        continue;
      }
      if (info.place == place) continue;
      const Mode mode = mode_of(one.record, id);
      const SlotId home = id;
      id = mode == Mode::kWrite ? contiguous(home, place) : fetched(home, place, one.name);
      if (mode != Mode::kRead) later.push_back({id, home});
    }
    const std::string name = one.name;
    for (const task::Operand& operand : task::operands(one.record))
      if (operand.mode != Mode::kRead) ++version_[task::index(slot(operand.slot).info.root)];
    draft_.tasks.push_back(std::move(one));
    for (const Later& copy : later) move(copy.from, copy.to, name);
    return {};
  }

  /// A copy of the slot at `place` with what the slot holds now.
  SlotId fetched(SlotId id, uint8_t place, const std::string& name) {
    const int version = version_[task::index(slot(id).info.root)];
    const auto found = fetched_.find(id);
    if (found != fetched_.end() && found->second.second == version) return found->second.first;
    const SlotId copy = contiguous(id, place);
    move(id, copy, name);
    fetched_[id] = {copy, version};
    return copy;
  }

  /// Copies between places move contiguous bytes; a window with gaps is copied on its own side
  /// first (or last).
  void move(SlotId from, SlotId to, const std::string& name) {
    if (!is_dense(from)) {
      const SlotId dense = contiguous(from, slot(from).info.place);
      add_copy(from, dense, name);
      from = dense;
    }
    if (is_dense(to)) return add_copy(from, to, name);
    const SlotId dense = contiguous(to, slot(to).info.place);
    add_copy(from, dense, name);
    add_copy(dense, to, name);
  }

  void add_copy(SlotId from, SlotId to, const std::string& name) {
    task::CopyTask copy;
    copy.x.id = from;
    copy.y.id = to;
    draft_.tasks.push_back({task::encode(copy), cat(name, ".copy")});
    ++version_[task::index(slot(to).info.root)];
  }

  /// A new root of the slot's dims.
  SlotId contiguous(SlotId like, uint8_t place) {
    CHECK(draft_.slots.size() < task::index(task::kNoSlot), "a program has fewer than 65535 slots");
    const auto id = static_cast<SlotId>(draft_.slots.size());
    task::Draft::Slot made = slot(like);
    made.info.space = task::Space::kArena;
    made.info.flags = 0;
    made.info.place = place;
    made.info.root = id;
    made.offset_elems = Dim(0);
    for (size_t d = made.dims.size(); d-- > 0;)
      made.strides[d] = d + 1 == made.dims.size() ? Dim(1) : made.strides[d + 1] * made.dims[d + 1];
    Dim count(1);
    for (const Dim& dim : made.dims) count = count * dim;
    made.storage_bytes = count * Dim(size_bytes(made.info.dtype));
    draft_.slots.push_back(std::move(made));
    version_.push_back(0);
    return id;
  }

  bool is_dense(SlotId id) const {
    const task::Draft::Slot& one = slot(id);
    Dim expected(1);
    for (size_t d = one.dims.size(); d-- > 0;) {
      if (!(one.dims[d] == Dim(1)) && !(one.strides[d] == expected)) return false;
      expected = expected * one.dims[d];
    }
    return true;
  }

  static Mode mode_of(const task::Record& record, SlotId id) {
    Mode mode = Mode::kRead;
    for (const task::Operand& operand : task::operands(record))
      if (operand.slot == id && operand.mode != Mode::kRead) mode = operand.mode;
    return mode;
  }

  task::Draft::Slot& slot(SlotId id) { return draft_.slots[task::index(id)]; }
  const task::Draft::Slot& slot(SlotId id) const { return draft_.slots[task::index(id)]; }

  const task::Draft& source_;
  const std::vector<uint8_t>& places_;
  task::Draft draft_;
  std::vector<int> version_;  // of roots: how often they were written so far
  std::map<SlotId, std::pair<SlotId, int>> fetched_;
};

}  // namespace

Result<task::Draft> place_tasks(const task::Draft& draft, const std::vector<uint8_t>& places) {
  CHECK(places.size() == draft.tasks.size(), "each task has a place");
  return Placer(draft, places).run();
}

}  // namespace tw::planner
