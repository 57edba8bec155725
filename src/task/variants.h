// variants.h: which variant of an executor's kernel a whole op takes at which size. What variants
// are is the executor's affair; none changes what a task computes.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "task/program.h"

namespace tw::task {

/// The size that ranges go by: the elements of the largest result of a whole op. Its operands must
/// be sound.
int64_t result_elems(const Record& record, Slots slots);

/// A variant that was found best at a size.
struct VariantAt {
  int64_t elems = 0;
  uint8_t variant = 0;
};
/// Ranges, still of no op, with bounds halfway between the points, as ratios go; neighbours of
/// equal variant are one. Of points of equal size the first counts. No points give no ranges.
std::vector<VariantRange> make_ranges(std::vector<VariantAt> points);

/// Those of one op, ascending.
std::span<const VariantRange> ranges_of(std::span<const VariantRange> ranges, uint32_t op);
/// Nothing when no range is given for the op.
std::optional<uint8_t> variant_at(std::span<const VariantRange> ranges, uint32_t op, int64_t elems);
/// Sets the variants of whole-op records for the sizes that the slots have.
void pick_variants(std::span<const VariantRange> ranges, Slots slots, std::vector<Record>& records);

/// "3 to 24576 elements, 7 beyond".
std::string to_string(std::span<const VariantRange> ranges);

/// A sentence when the program's ranges cannot be meant: they are for open sizes and for ops that
/// tasks are of, ascend, and the last of an op has no bound. `order` lists the records, best by
/// seq.
Result<void> check_ranges(const Program& program, std::span<const uint32_t> order);
/// Also: every record has the variant of the range that it is in. Records must be sound.
Result<void> verify_variants(const Program& program, std::span<const uint32_t> order);

}  // namespace tw::task
