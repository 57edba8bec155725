// record.h: one task as 128 immutable bytes, shared by all contexts and by every executor; no
// pointer inside. Records are made from and turned back into the structs of kinds.h; both
// directions follow from the structs' fields().
#pragma once

#include <cstring>
#include <utility>
#include <variant>

#include "task/kinds.h"

namespace tw::task {

struct Wait {
  uint32_t counter = 0;
  int32_t target = 0;  // met when int32(value - target) >= 0; targets of a later epoch are larger
};

inline constexpr size_t kMaxOperands = 12;
inline constexpr size_t kMaxWaits = 4;
inline constexpr size_t kPayloadBytes = 48;
inline constexpr uint32_t kNoCounter = 0xffffffffU;

struct Record {
  uint8_t kind = 0;     // index into Tasks
  uint8_t variant = 0;  // of the executor's kernel; 0 is always right
  uint8_t n_waits = 0;
  uint8_t flags = 0;
  uint32_t seq = 0;  // place in the one proved linear order
  uint32_t tile_begin = 0, tile_end = 0;
  SlotId operands[kMaxOperands];
  Wait waits[kMaxWaits];
  uint32_t signal = kNoCounter;  // incremented once when the task is done
  uint32_t op = 0;               // which whole op this is a part of: index into Program::op_names
  std::byte payload[kPayloadBytes] = {};
};
static_assert(sizeof(Record) == 128 && std::is_trivially_copyable_v<Record>);

/// The kinds; a kind's number is its index here: append only.
template <class... Kinds>
struct TaskList {
  using Variant = std::variant<Kinds...>;
  static constexpr size_t kCount = sizeof...(Kinds);
  template <class Kind>
  static constexpr uint8_t number_of() {
    uint8_t number = 0;
    bool found = false;
    ((found || std::is_same_v<Kind, Kinds> ? void(found = true) : void(++number)), ...);
    return number;
  }
};
using Tasks = TaskList<JoinTask, GemmTask, ConvTask, PoolTask, AttentionTask, NormTask, SoftmaxTask,
                       ElementwiseTask, ReduceTask, GatherTask, ScatterTask, CopyTask, ResizeTask,
                       RecurrentTask, NonZeroTask, SortTask, ScanTask>;

namespace detail {

template <class T>
inline constexpr bool kIsOperand = false;
template <>
inline constexpr bool kIsOperand<In> = true;
template <>
inline constexpr bool kIsOperand<Out> = true;
template <>
inline constexpr bool kIsOperand<InOut> = true;
template <class T, size_t N>
inline constexpr bool kIsOperand<std::array<T, N>> = kIsOperand<T>;

template <class T>
struct OperandRole;
template <>
struct OperandRole<In> {
  static constexpr Mode kMode = Mode::kRead;
};
template <>
struct OperandRole<Out> {
  static constexpr Mode kMode = Mode::kWrite;
};
template <>
struct OperandRole<InOut> {
  static constexpr Mode kMode = Mode::kReadWrite;
};

/// Calls visit(operand) for each In, Out and InOut member in order, arrays element by element.
template <class Task, class Visit>
constexpr void for_each_operand(Task& task, Visit&& visit) {
  std::apply(
      [&](const auto&... field) {
        [[maybe_unused]] const auto one = [&](const auto& f) {
          auto& member = task.*(f.member);
          using Member = std::remove_cvref_t<decltype(member)>;
          if constexpr (kIsOperand<Member>) {
            if constexpr (requires { member.id; })
              visit(f.name, member);
            else
              for (auto& element : member) visit(f.name, element);
          }
        };
        (one(field), ...);
      },
      std::remove_const_t<Task>::fields());
}

/// Calls visit(name, member) for each plain field in order.
template <class Task, class Visit>
void for_each_plain_field(Task& task, Visit&& visit) {
  std::apply(
      [&](const auto&... field) {
        [[maybe_unused]] const auto one = [&](const auto& f) {
          auto& member = task.*(f.member);
          if constexpr (!kIsOperand<std::remove_cvref_t<decltype(member)>>) visit(f.name, member);
        };
        (one(field), ...);
      },
      std::remove_const_t<Task>::fields());
}

template <class Task>
constexpr size_t payload_bytes() {
  size_t bytes = 0;
  std::apply(
      [&](const auto&... field) {
        [[maybe_unused]] const auto one = [&](const auto& f) {
          using Member = std::remove_cvref_t<decltype(std::declval<Task&>().*(f.member))>;
          if constexpr (!kIsOperand<Member>) bytes += sizeof(Member);
        };
        (one(field), ...);
      },
      Task::fields());
  return bytes;
}

template <class Task>
constexpr size_t operand_count() {
  size_t count = 0;
  std::apply(
      [&](const auto&... field) {
        [[maybe_unused]] const auto one = [&](const auto& f) {
          using Member = std::remove_cvref_t<decltype(std::declval<Task&>().*(f.member))>;
          if constexpr (kIsOperand<Member>) {
            if constexpr (requires { std::declval<Member>().id; })
              ++count;
            else
              count += std::tuple_size_v<Member>;
          }
        };
        (one(field), ...);
      },
      Task::fields());
  return count;
}

}  // namespace detail

/// Kind, operands and payload of a record; everything else is left at its default.
template <class Task>
Record encode(const Task& task) {
  static_assert(detail::payload_bytes<Task>() <= kPayloadBytes,
                "a task's plain fields fit in 48 bytes");
  static_assert(detail::operand_count<Task>() <= kMaxOperands, "a task has at most 12 operands");
  Record record;
  record.kind = Tasks::number_of<Task>();
  for (SlotId& id : record.operands) id = kNoSlot;
  size_t slot = 0;
  detail::for_each_operand(
      task, [&](const char*, const auto& operand) { record.operands[slot++] = operand.id; });
  size_t at = 0;
  detail::for_each_plain_field(task, [&](const char*, const auto& member) {
    std::memcpy(record.payload + at, &member, sizeof member);
    at += sizeof member;
  });
  return record;
}

template <class Task>
Task decode(const Record& record) {
  Task task;
  size_t slot = 0;
  detail::for_each_operand(
      task, [&](const char*, auto& operand) { operand.id = record.operands[slot++]; });
  size_t at = 0;
  detail::for_each_plain_field(task, [&](const char*, auto& member) {
    std::memcpy(&member, record.payload + at, sizeof member);
    at += sizeof member;
  });
  return task;
}

namespace detail {
template <class F, class... Kinds>
decltype(auto) visit_impl(const Record& record, F&& f, TaskList<Kinds...>) {
  using R = std::common_type_t<decltype(f(std::declval<const Kinds&>()))...>;
  using Call = R (*)(const Record&, F&);
  static constexpr Call kCalls[] = {
      +[](const Record& r, F& g) -> R { return g(decode<Kinds>(r)); }...};
  CHECK(record.kind < sizeof...(Kinds), "the kind of a checked record is known");
  return kCalls[record.kind](record, f);
}
}  // namespace detail

/// f(the record's task struct); f takes every kind. record.kind must be below Tasks::kCount.
template <class F>
decltype(auto) visit(const Record& record, F&& f) {
  return detail::visit_impl(record, std::forward<F>(f), Tasks{});
}

std::string_view kind_name(uint8_t kind);
struct Role {
  const char* name = nullptr;
  Mode mode = Mode::kRead;
};
/// The operands that a kind can have, as they stand in a record.
std::span<const Role> operand_roles(uint8_t kind);
/// Present operands and their roles, in order.
struct Operand {
  const char* name;
  SlotId slot;
  Mode mode;
};
FixedList<Operand, kMaxOperands> operands(const Record& record);
/// How many tiles the whole op has, and the boxes that tiles [begin, end) touch, merged an operand.
int64_t n_tiles(const Record& record, Slots slots);
void access(const Record& record, Slots slots, AccessList& list);
/// A record that is its whole op, of `n_tiles` tiles, touches whole operands. Operands that a tile
/// does not cover in full (a strided convolution's last rows) make this larger than the union of
/// tiles, which is safe for reads; outputs are exact.
inline bool is_whole_op(const Record& record, int64_t n_tiles) {
  return record.tile_begin == 0 && record.tile_end == n_tiles;
}
/// A sentence when the kind, operands or fields cannot be meant: unknown kind, missing operand,
/// wrong rank or dims.
Result<void> validate(const Record& record, Slots slots, std::span<const std::byte> side);

}  // namespace tw::task
