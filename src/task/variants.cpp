#include "task/variants.h"

#include <algorithm>
#include <cmath>

#include "task/happens_before.h"

namespace tw::task {
namespace {

bool is_join(const Record& record) { return record.kind == Tasks::number_of<JoinTask>(); }

/// The last size at which the variant of size `a` is taken rather than that of size `b` > a.
int64_t bound_between(int64_t a, int64_t b) {
  const double mean = std::sqrt(static_cast<double>(a) * static_cast<double>(b));
  return std::clamp(static_cast<int64_t>(mean), a, b - 1);
}

bool lies_before(const VariantRange& range, uint32_t op, int64_t elems) {
  return range.op != op ? range.op < op : range.up_to_elems < elems;
}

/// Finds ranges; takes no search where ops are asked for in ascending order.
class Finder {
 public:
  explicit Finder(std::span<const VariantRange> ranges) : ranges_(ranges) {}

  std::optional<uint8_t> variant_at(uint32_t op, int64_t elems) {
    if (at_ > 0 && !lies_before(ranges_[at_ - 1], op, elems)) at_ = 0;
    for (int step = 0; step < kSteps && is_before(op, elems); ++step) ++at_;
    if (is_before(op, elems)) search(op, elems);
    if (at_ == ranges_.size() || ranges_[at_].op != op) return std::nullopt;
    return ranges_[at_].variant;
  }

 private:
  static constexpr int kSteps = 8;
  bool is_before(uint32_t op, int64_t elems) const {
    return at_ < ranges_.size() && lies_before(ranges_[at_], op, elems);
  }
  void search(uint32_t op, int64_t elems) {
    const auto found = std::partition_point(
        ranges_.begin() + static_cast<std::ptrdiff_t>(at_), ranges_.end(),
        [&](const VariantRange& range) { return lies_before(range, op, elems); });
    at_ = static_cast<size_t>(found - ranges_.begin());
  }

  std::span<const VariantRange> ranges_;
  size_t at_ = 0;  // what lies before it is known to be before the last key
};

/// The ops that tasks are of, ascending.
std::vector<uint32_t> ops_of(const Program& program, std::span<const uint32_t> order) {
  std::vector<uint32_t> ops;
  ops.reserve(order.size());
  for (const uint32_t r : order)
    if (!is_join(program.records[r])) ops.push_back(program.records[r].op);
  if (!std::is_sorted(ops.begin(), ops.end())) std::sort(ops.begin(), ops.end());
  return ops;
}

Result<void> check_range(std::span<const VariantRange> ranges, size_t i) {
  const VariantRange& range = ranges[i];
  if (i > 0 && !lies_before(ranges[i - 1], range.op, range.up_to_elems))
    return error(Code::kCorrupt, "op ", range.op, " to ", range.up_to_elems,
                 " elements does not ascend from the range before it");
  const bool ends_op = i + 1 == ranges.size() || ranges[i + 1].op != range.op;
  if (range.up_to_elems >= 0 && ends_op == range.is_last()) return {};
  return error(Code::kCorrupt, "ends at ", range.up_to_elems, " elements, expected ",
               ends_op ? "no bound in the last" : "a bound in all but the last", " of op ",
               range.op);
}

}  // namespace

int64_t result_elems(const Record& record, Slots slots) {
  int64_t most = 0;
  const std::span<const Role> roles = operand_roles(record.kind);
  for (size_t i = 0; i < roles.size(); ++i)
    if (record.operands[i] != kNoSlot && roles[i].mode != Mode::kRead)
      most = std::max(most, slots[index(record.operands[i])].count());
  return most;
}

std::vector<VariantRange> make_ranges(std::vector<VariantAt> points) {
  std::stable_sort(points.begin(), points.end(),
                   [](const VariantAt& a, const VariantAt& b) { return a.elems < b.elems; });
  std::vector<VariantRange> ranges;
  int64_t last_elems = -1;
  for (const VariantAt& point : points) {
    if (point.elems == last_elems) continue;
    if (ranges.empty() || ranges.back().variant != point.variant) {
      if (!ranges.empty()) ranges.back().up_to_elems = bound_between(last_elems, point.elems);
      VariantRange range;
      range.variant = point.variant;
      ranges.push_back(range);
    }
    last_elems = point.elems;
  }
  return ranges;
}

std::span<const VariantRange> ranges_of(std::span<const VariantRange> ranges, uint32_t op) {
  const auto [first, last] = std::ranges::equal_range(ranges, op, {}, &VariantRange::op);
  return {first, last};
}

std::optional<uint8_t> variant_at(std::span<const VariantRange> ranges, uint32_t op,
                                  int64_t elems) {
  return Finder(ranges).variant_at(op, elems);
}

void pick_variants(std::span<const VariantRange> ranges, Slots slots,
                   std::vector<Record>& records) {
  if (ranges.empty()) return;
  Finder finder(ranges);
  for (Record& record : records) {
    if (is_join(record)) continue;
    if (const auto variant = finder.variant_at(record.op, result_elems(record, slots)))
      record.variant = *variant;
  }
}

std::string to_string(std::span<const VariantRange> ranges) {
  std::vector<std::string> parts;
  for (const VariantRange& range : ranges)
    parts.push_back(range.is_last() ? cat(static_cast<int>(range.variant), " beyond")
                                    : cat(static_cast<int>(range.variant), " to ",
                                          range.up_to_elems, " elements"));
  return join(parts, ", ");
}

Result<void> check_ranges(const Program& program, std::span<const uint32_t> order) {
  const std::vector<VariantRange>& ranges = program.parametric.variants;
  if (ranges.empty()) return {};
  if (!program.is_parametric())
    return error(Code::kCorrupt, "found ", ranges.size(),
                 " ranges of variants where every size is fixed, expected none");
  const std::vector<uint32_t> ops = ops_of(program, order);
  auto op = ops.begin();
  for (size_t i = 0; i < ranges.size(); ++i) {
    Result<void> sound = check_range(ranges, i);
    if (!sound.ok()) return std::move(sound).in(cat("range of variants ", i));
    while (op != ops.end() && *op < ranges[i].op) ++op;
    if (op == ops.end() || *op != ranges[i].op)
      return error(Code::kCorrupt, "range of variants ", i, ": names op ", ranges[i].op,
                   ", which no task is of");
  }
  return {};
}

Result<void> verify_variants(const Program& program, std::span<const uint32_t> order) {
  TRY(check_ranges(program, order));
  if (program.parametric.variants.empty()) return {};
  Finder finder(program.parametric.variants);
  for (const uint32_t r : order) {
    const Record& record = program.records[r];
    if (is_join(record)) continue;
    const int64_t elems = result_elems(record, program.slots);
    const auto variant = finder.variant_at(record.op, elems);
    if (variant && *variant != record.variant)
      return error(Code::kCorrupt, describe_task(program, r), ": has variant ",
                   static_cast<int>(record.variant), ", expected ", static_cast<int>(*variant),
                   " for ", elems, " elements");
  }
  return {};
}

}  // namespace tw::task
