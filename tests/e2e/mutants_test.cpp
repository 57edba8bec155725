// Seeded single faults in the programs of real models. The verifier rejects nearly all; one that it
// lets pass must leave the known order between all tasks as it was, which makes it the same
// program.
#include <algorithm>
#include <random>

#include "models.h"
#include "task/happens_before.h"

namespace tw::e2e {
namespace {

using task::Program;
using task::Record;

constexpr int kMutantsAProgram = 120;

/// Programs of at least a few tasks: whole ops of every model, tiles for 8 workers of some.
std::vector<Program> programs() {
  std::vector<Program> list;
  for (const Model& model : models()) {
    if (!is_there(model)) continue;
    for (const int workers : {1, 8}) {
      const plan::Plan plan = build(model, workers);
      for (const Program& program : plan.programs)
        if (program.records.size() >= 8) list.push_back(program);
    }
  }
  return list;
}

template <class Predicate>
std::optional<size_t> pick(const Program& program, std::mt19937_64& random, Predicate&& fits) {
  std::vector<size_t> all;
  for (size_t i = 0; i < program.records.size(); ++i)
    if (fits(program.records[i])) all.push_back(i);
  return all.empty() ? std::nullopt : std::optional(all[random() % all.size()]);
}

bool has_wait(const Record& record) { return record.n_waits > 0; }
bool has_tiles(const Record& record) {
  return record.tile_end > record.tile_begin &&
         record.kind != task::Tasks::number_of<task::JoinTask>();
}

bool drop_wait(Program& program, std::mt19937_64& random) {
  const auto at = pick(program, random, has_wait);
  if (!at) return false;
  Record& record = program.records[*at];
  const size_t w = random() % record.n_waits;
  record.waits[w] = record.waits[record.n_waits - 1U];
  --record.n_waits;
  return true;
}

bool change_target(Program& program, std::mt19937_64& random) {
  const auto at = pick(program, random, has_wait);
  if (!at) return false;
  program.records[*at].waits[0].target += random() % 2 == 0 ? 1 : -1;
  return true;
}

/// Two neighbours of a queue change places, keeping the seq of the place.
bool swap_order(Program& program, std::mt19937_64& random) {
  const task::Queue& queue = program.queues[random() % program.queues.size()];
  if (queue.count < 2) return false;
  const size_t at = queue.first + random() % (queue.count - 1U);
  std::swap(program.records[at], program.records[at + 1]);
  std::swap(program.records[at].seq, program.records[at + 1].seq);
  return true;
}

/// A buffer is laid onto another one whose life crosses its own.
bool overlap(Program& program, std::mt19937_64& random) {
  const auto at = pick(program, random, [&](const Record& record) {
    int arena = 0;
    for (const task::Operand& operand : task::operands(record))
      arena += program.slot(operand.slot).space == task::Space::kArena ? 1 : 0;
    return arena >= 2;
  });
  if (!at) return false;
  std::vector<size_t> roots;
  for (const task::Operand& operand : task::operands(program.records[*at])) {
    const size_t root = task::index(program.slot(operand.slot).root);
    if (program.slots[root].space == task::Space::kArena && program.slots[root].storage_bytes > 0 &&
        std::count(roots.begin(), roots.end(), root) == 0)
      roots.push_back(root);
  }
  if (roots.size() < 2) return false;
  program.slots[roots[0]].offset_bytes = program.slots[roots[1]].offset_bytes;
  return true;
}

bool bad_slot(Program& program, std::mt19937_64& random) {
  const auto at = pick(program, random, has_tiles);
  if (!at) return false;
  Record& record = program.records[*at];
  const auto all = task::operands(record);
  const task::SlotId old = all[random() % all.size()].slot;
  const auto other = static_cast<task::SlotId>(random() % (program.slots.size() + 4));
  if (other == old) return false;
  std::replace(std::begin(record.operands), std::end(record.operands), old, other);
  return true;
}

bool wrong_box(Program& program, std::mt19937_64& random) {
  const auto at = pick(program, random, has_tiles);
  if (!at) return false;
  Record& record = program.records[*at];
  if (random() % 2 == 0)
    ++record.tile_begin;
  else
    --record.tile_end;
  return true;
}

/// Every pair of tasks is ordered as before.
bool same_order(const Program& a, const Program& b) {
  if (a.records.size() != b.records.size()) return false;
  const auto first = task::known_order(a, task::seq_order(a)),
             second = task::known_order(b, task::seq_order(b));
  if (!first.ok() || !second.ok()) return false;
  for (size_t r = 0; r < a.records.size(); ++r)
    if (!std::equal(first.value().clock(r), first.value().clock(r) + first.value().n_queues(),
                    second.value().clock(r)))
      return false;
  return true;
}

/// What both records touch, one of them writing, has no byte in common: their order has no say.
bool independent(const Program& program, const Record& a, const Record& b) {
  task::AccessList first, second;
  task::access(a, program.slots, first);
  task::access(b, program.slots, second);
  for (const task::Access& x : first)
    for (const task::Access& y : second) {
      const task::SlotInfo &s = program.slot(x.slot), &t = program.slot(y.slot);
      if (s.space != t.space || (!x.writes() && !y.writes())) continue;
      if (s.space != task::Space::kArena && s.root != t.root) continue;
      const auto shift = [&](const task::SlotInfo& slot) {
        return slot.space == task::Space::kArena ? program.slot(slot.root).offset_bytes : 0;
      };
      task::ByteRange u = byte_range(s, x.box), v = byte_range(t, y.box);
      u = {u.begin + shift(s), u.end + shift(s)};
      v = {v.begin + shift(t), v.end + shift(t)};
      if (u.overlaps(v)) return false;
    }
  return true;
}

/// The mutant swaps two neighbours of a queue that are independent of each other, and changes
/// nothing else.
bool swaps_independent_neighbours(const Program& original, const Program& mutant) {
  std::vector<size_t> changed;
  for (size_t r = 0; r < original.records.size(); ++r)
    if (std::memcmp(&original.records[r], &mutant.records[r], sizeof(Record)) != 0)
      changed.push_back(r);
  return changed.size() == 2 && changed[1] == changed[0] + 1 &&
         independent(original, original.records[changed[0]], original.records[changed[1]]);
}

TEST(Mutants, NearlyAllAreRejectedAndTheRestAreEquivalent) {
  const std::vector<Program> all = programs();
  if (all.empty()) GTEST_SKIP() << "no models are there";
  using Mutate = bool (*)(Program&, std::mt19937_64&);
  constexpr std::pair<const char*, Mutate> kFaults[] = {
      {"dropped wait", drop_wait}, {"wrong target", change_target}, {"swapped order", swap_order},
      {"overlap", overlap},        {"bad slot", bad_slot},          {"wrong box", wrong_box}};
  std::mt19937_64 random(20261130);
  int mutants = 0, rejected = 0, equivalent = 0;
  for (const Program& original : all)
    for (int i = 0; i < kMutantsAProgram; ++i) {
      const auto& [name, mutate] = kFaults[static_cast<size_t>(i) % std::size(kFaults)];
      Program mutant = original;
      if (!mutate(mutant, random)) continue;
      ++mutants;
      if (!task::verify(mutant).ok()) {
        ++rejected;
        continue;
      }
      const bool harmless =
          same_order(original, mutant) ||
          (mutate == swap_order && swaps_independent_neighbours(original, mutant));
      equivalent += harmless ? 1 : 0;
      EXPECT_TRUE(harmless) << "a mutant (" << name << ") of a program of "
                            << original.records.size() << " tasks passes";
    }
  std::printf("%d mutants of %zu programs: %d rejected, %d equivalent\n", mutants, all.size(),
              rejected, equivalent);
  EXPECT_GE(all.size(), 10U);
  EXPECT_GE(mutants, 1000);
  EXPECT_GE(rejected * 100, mutants * 98);
}

}  // namespace
}  // namespace tw::e2e
