// Variants by ranges of sizes: how ranges follow from measured points, what instances pick, and
// tables that are refused.
#include "task/variants.h"

#include "task/happens_before.h"
#include "task/test_programs.h"

namespace tw::task {
namespace {

VariantRange range(int64_t up_to_elems, uint8_t variant, uint32_t op = 0) {
  VariantRange made;
  made.up_to_elems = up_to_elems;
  made.op = op;
  made.variant = variant;
  return made;
}

/// The diamond over [rows, 64], whose op 2 has variant 3 up to 640 elements, 10 rows, then 5 up to
/// 6400, then 7; and whose op 4 has variant 2 and, beyond 64 elements, 9.
Draft ranged_draft() {
  Draft draft = diamond(Dim::symbol("rows"));
  draft.tasks[2].variants = {range(640, 3), range(6400, 5), range(VariantRange::kNoBound, 7)};
  draft.tasks[4].variants = {range(64, 2), range(VariantRange::kNoBound, 9)};
  return draft;
}

Program ranged_program(int64_t rows) {
  return value_or_fail(build_program(ranged_draft(), {"rows"}, {rows}, {}));
}

/// Of op 2.
int variant_of(const Program& program, uint32_t op = 2) {
  for (const Record& record : program.records)
    if (record.op == op && record.kind != Tasks::number_of<JoinTask>()) return record.variant;
  return -1;
}

std::string refusal(const Program& program) {
  const Result<void> checked = check_ranges(program, seq_order(program));
  const Result<void> proved = verify(program);
  EXPECT_FALSE(proved.ok());
  return checked.ok() ? "" : checked.error().message;
}

TEST(MakeRanges, BoundsAreGeometricMeansOfMeasuredSizes) {
  const auto ranges = make_ranges({{32, 4}, {1, 2}, {128, 6}});
  EXPECT_EQ(to_string(ranges), "2 to 5 elements, 4 to 64 elements, 6 beyond");
}

TEST(MakeRanges, NeighboursOfEqualVariantAreOneRange) {
  const auto ranges = make_ranges({{1, 2}, {16, 2}, {64, 3}, {256, 3}});
  EXPECT_EQ(to_string(ranges), "2 to 32 elements, 3 beyond");
  EXPECT_EQ(to_string(make_ranges({{1, 2}, {16, 2}})), "2 beyond");
  EXPECT_TRUE(make_ranges({}).empty());
}

TEST(MakeRanges, OfPointsOfEqualSizeTheFirstCounts) {
  EXPECT_EQ(to_string(make_ranges({{16, 5}, {16, 6}, {1, 6}})), "6 to 4 elements, 5 beyond");
}

TEST(MakeRanges, BoundsLieBetweenSizesThatAreNeighbours) {
  EXPECT_EQ(to_string(make_ranges({{7, 1}, {8, 2}})), "1 to 7 elements, 2 beyond");
  const int64_t large = int64_t{1} << 61;
  EXPECT_EQ(make_ranges({{large - 1, 1}, {large, 2}})[0].up_to_elems, large - 1);
}

TEST(Instantiate, PicksTheVariantOfTheRangeThatASizeIsIn) {
  const Program program = ranged_program(8);
  EXPECT_EQ(variant_of(program), 3);
  const auto variant_at_rows = [&](int64_t rows) {
    return variant_of(value_or_fail(instantiate(program, {rows})));
  };
  EXPECT_EQ(variant_at_rows(0), 3);
  EXPECT_EQ(variant_at_rows(1), 3);
  EXPECT_EQ(variant_at_rows(10), 3);
  EXPECT_EQ(variant_at_rows(11), 5);
  EXPECT_EQ(variant_at_rows(100), 5);
  EXPECT_EQ(variant_at_rows(101), 7);
  EXPECT_EQ(variant_at_rows(1000000), 7);
}

TEST(Instantiate, EachOpHasItsOwnRangesAndOthersKeepTheirVariant) {
  Draft draft = ranged_draft();
  draft.tasks[3].record.variant = 11;
  const Program program = value_or_fail(build_program(draft, {"rows"}, {8}, {}));
  const Program small = value_or_fail(instantiate(program, {1}));
  EXPECT_EQ(variant_of(small, 2), 3);
  EXPECT_EQ(variant_of(small, 4), 2);
  EXPECT_EQ(variant_of(small, 3), 11);
  EXPECT_EQ(variant_of(small, 0), 0);
  EXPECT_EQ(variant_of(program, 4), 9);
}

TEST(PickVariants, FindsRangesInWhateverOrderOpsStand) {
  Program program = ranged_program(8);
  std::vector<VariantRange> ranges;
  for (uint32_t op = 0; op < 100; ++op)
    for (const int64_t up_to : {int64_t{511}, int64_t{512}, VariantRange::kNoBound})
      ranges.push_back(range(up_to, static_cast<uint8_t>(up_to == 512 ? op : 200), 2 * op));
  std::vector<Record> records;
  for (const uint32_t op : {0U, 2U, 4U, 198U, 3U, 100U, 100U, 6U, 199U, 0U}) {
    records.push_back(program.records[0]);  // 512 elements
    records.back().op = op;
    records.back().variant = 255;
  }
  pick_variants(ranges, program.slots, records);
  std::vector<int> picked;
  for (const Record& record : records) picked.push_back(record.variant);
  EXPECT_EQ(picked, (std::vector<int>{0, 1, 2, 99, 255, 50, 50, 3, 255, 0}));
}

TEST(Instantiate, ThereAndBackIsTheSameProgram) {
  const Program program = ranged_program(8);
  const Program there = value_or_fail(instantiate(program, {500}));
  EXPECT_EQ(print(there), print(ranged_program(500)));
  EXPECT_EQ(print(value_or_fail(instantiate(there, {8}))), print(program));
}

TEST(Instantiate, WithoutRangesRecordsKeepTheirVariant) {
  Draft draft = diamond(Dim::symbol("rows"));
  draft.tasks[2].record.variant = 6;
  const Program program = value_or_fail(build_program(draft, {"rows"}, {8}, {}));
  EXPECT_TRUE(program.parametric.variants.empty());
  EXPECT_EQ(variant_of(value_or_fail(instantiate(program, {900}))), 6);
}

TEST(Build, TilesForWorkersHaveNoRanges) {
  Draft draft = two_gemms(200);
  draft.tasks[0].variants = {range(64, 2), range(VariantRange::kNoBound, 9)};
  BuildOptions options;
  options.workers = 8;
  EXPECT_TRUE(value_or_fail(build_program(draft, {}, {}, options)).parametric.variants.empty());
}

TEST(Print, ShowsTheVariantAndItsRanges) {
  EXPECT_NE(
      print(ranged_program(8)).find(" variant 3 (3 to 640 elements, 5 to 6400 elements, 7 beyond)"),
      std::string::npos);
  EXPECT_EQ(print(value_or_fail(build_program(diamond(Dim(8)), {}, {}, {}))).find("variant"),
            std::string::npos);
}

TEST(VerifyVariants, BoundsThatDoNotAscendAreRefused) {
  Program program = ranged_program(8);
  program.parametric.variants[1].up_to_elems = 640;
  EXPECT_EQ(refusal(program),
            "range of variants 1: op 2 to 640 elements does not ascend from the range before it");
}

TEST(VerifyVariants, OpsThatDoNotAscendAreRefused) {
  Program program = ranged_program(8);
  auto& ranges = program.parametric.variants;
  std::rotate(ranges.begin(), ranges.begin() + 3, ranges.end());
  EXPECT_EQ(refusal(program),
            "range of variants 2: op 2 to 640 elements does not ascend from the range before it");
}

TEST(VerifyVariants, ANegativeBoundIsRefused) {
  Program program = ranged_program(8);
  program.parametric.variants[0].up_to_elems = -1;
  EXPECT_EQ(
      refusal(program),
      "range of variants 0: ends at -1 elements, expected a bound in all but the last of op 2");
}

TEST(VerifyVariants, ALastRangeWithABoundIsRefused) {
  Program program = ranged_program(8);
  program.parametric.variants[2].up_to_elems = 1 << 20;
  EXPECT_EQ(refusal(program),
            "range of variants 2: ends at 1048576 elements, expected no bound in the last of op 2");
}

TEST(VerifyVariants, AnOpThatNoTaskIsOfIsRefused) {
  Program program = ranged_program(8);
  for (VariantRange& one : program.parametric.variants)
    if (one.op == 4) one.op = 5;
  EXPECT_EQ(refusal(program), "range of variants 3: names op 5, which no task is of");
}

TEST(VerifyVariants, RangesWhereEverySizeIsFixedAreRefused) {
  Program program = value_or_fail(build_program(diamond(Dim(8)), {}, {}, {}));
  program.parametric.variants = {range(VariantRange::kNoBound, 1)};
  EXPECT_EQ(refusal(program),
            "found 1 ranges of variants where every size is fixed, expected none");
}

TEST(VerifyVariants, ARecordOfAnotherVariantThanItsRangeIsRefused) {
  for (size_t i = 0; i < ranged_program(8).records.size(); ++i) {
    Program program = ranged_program(8);
    Record& record = program.records[i];
    if (ranges_of(program.parametric.variants, record.op).empty()) continue;
    ++record.variant;
    EXPECT_TRUE(check_ranges(program, seq_order(program)).ok());
    EXPECT_FALSE(verify(program).ok());
  }
  Program program = ranged_program(8);
  program.parametric.variants[0].variant = 4;
  EXPECT_EQ(
      verify(program).error().message,
      "task 2 (elementwise of 'sum', tiles 0 to 1): has variant 3, expected 4 for 512 elements");
}

}  // namespace
}  // namespace tw::task
