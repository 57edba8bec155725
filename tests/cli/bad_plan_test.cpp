// Plans that are damaged, made for another machine, or wrong in what they say: one sentence with
// what, where, found and expected, and never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models.h"
#include "plan_edit.h"
#include "runtime/devices.h"

namespace tw::cli_test {
namespace {

using plan::Plan;

constexpr const char* kPlanCommands[] = {"run", "bench", "inspect", "explain", "doctor"};

/// The command on the plan; those that run it get an input.
Finished call(const std::string& command, const std::string& plan) {
  if (command == "run") return tilewright({command, plan, "--input", "random", "--quiet"});
  if (command == "bench") return tilewright({command, plan, "--duration-s", "0.01"});
  return tilewright({command, plan});
}

std::string build_branches(const TempFolder& folder) {
  const std::string plan = folder.file("good.plan");
  const Finished built = tilewright({"build", write_branches(folder), "-o", plan});
  EXPECT_EQ(built.exit_code, 0) << built.err;
  return plan;
}

task::Record& waiting_record(Plan& plan) {
  for (task::Record& record : plan.programs[0].records)
    if (record.n_waits > 0) return record;
  CHECK(false, "the program of two branches has a wait");
  __builtin_unreachable();
}

task::SlotInfo& slot_named(Plan& plan, std::string_view name, bool view) {
  task::Program& program = plan.programs[0];
  for (size_t i = 0; i < program.slots.size(); ++i)
    if (program.slot_names[i] == name && program.slots[i].is_view() == view)
      return program.slots[i];
  CHECK(false, "the program of two branches has this slot");
  __builtin_unreachable();
}

plan::RunStep& run_step(Plan& plan) { return std::get<plan::RunStep>(plan.main.steps[0]); }

TEST(BadPlan, ATruncatedOneIsRefused) {
  const TempFolder folder;
  const std::string whole = read_all(build_branches(folder));
  for (const size_t n : {size_t{8}, size_t{55}, size_t{56}, whole.size() / 2, whole.size() - 1}) {
    write_all(folder.file("cut.plan"), whole.substr(0, n));
    for (const char* command : kPlanCommands)
      expect_refused_with(call(command, folder.file("cut.plan")),
                          {"cut.plan'", "has " + std::to_string(n) + " bytes, expected "});
  }
}

TEST(BadPlan, AFlippedByteIsRefusedWhereverItIs) {
  const TempFolder folder;
  const std::string whole = read_all(build_branches(folder));
  for (size_t at = 12; at < whole.size(); at += whole.size() / 97) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x40);
    write_all(folder.file("p"), flipped);
    expect_refused_with(tilewright({"inspect", folder.file("p")}),
                        {"plan '", "checksum", "expected "});
  }
}

TEST(BadPlan, AFlippedByteWithItsChecksumMendedIsRefusedOrHarmless) {
  const TempFolder folder;
  const std::string whole = read_all(build_branches(folder));
  const size_t data_begin = 4096;
  int refused = 0;
  for (size_t at = data_begin; at < whole.size(); at += 53) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    write_all(folder.file("p"), mend_checksums(flipped));
    const Finished finished = call("run", folder.file("p"));
    if (finished.exit_code == 0) continue;
    SCOPED_TRACE(at);
    expect_refused(finished, "");
    ++refused;
  }
  EXPECT_GT(refused, 0);
}

TEST(BadPlan, RandomBytesAreRefused) {
  const TempFolder folder;
  const std::string magic = read_all(build_branches(folder)).substr(0, 12);
  for (const size_t n : {0, 1, 7, 100, 5000}) {
    write_all(folder.file("p"), random_bytes(n, n));
    expect_refused_with(call("inspect", folder.file("p")), {"plan '", "found ", "expected "});
    write_all(folder.file("p"), magic + random_bytes(n, n));
    for (const char* command : kPlanCommands)
      expect_refused_with(call(command, folder.file("p")), {"plan '", "expected "});
  }
}

TEST(BadPlan, AnotherFormatVersionIsNamed) {
  const TempFolder folder;
  std::string plan = read_all(build_branches(folder));
  plan[8] = 99;
  for (const std::string& bytes : {plan, mend_checksums(plan)}) {
    write_all(folder.file("p"), bytes);
    for (const char* command : kPlanCommands)
      expect_refused(call(command, folder.file("p")), "is a plan of format version 99, expected 2");
  }
}

TEST(BadPlan, AnotherTargetSaysWantedAndFound) {
  const TempFolder folder;
  const std::string good = build_branches(folder);
  edit_plan(good, folder.file("gpu"), [](Plan& plan) { plan.contract[0].second = "sm_90"; });
  edit_plan(good, folder.file("isa"), [](Plan& plan) { plan.contract[0].second = "cpu avx1024"; });
  const std::string found = runtime::has_cuda() ? "found none" : "this build runs 'cpu' plans";
  for (const char* command : {"run", "bench", "doctor"}) {
    expect_refused_with(call(command, folder.file("gpu")), {"'sm_90'", found});
    expect_refused_with(call(command, folder.file("isa")),
                        {"the plan wants instruction set 'avx1024'", "found "});
  }
}

TEST(BadPlan, OneForAWiderInstructionSetSaysWantedAndFound) {
  const TempFolder folder;
  const std::string plan = folder.file("p");
  const Finished built = run({cli_path(""), "build", write_branches(folder), "-o", plan, "-q"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  if (run({cli_path(""), "--version"}).out.find("cpu: sse42") != std::string::npos)
    GTEST_SKIP() << "nothing is narrower than this machine";
  for (const char* command : {"run", "bench", "doctor"})
    expect_refused_with(run({cli_path("sse42"), command, plan, "-q"}),
                        {"the plan wants avx", ", found sse42"});
}

struct BadEdit {
  const char* name;
  void (*edit)(Plan&);
  std::vector<std::string> parts;
};

class WrongPlan : public ::testing::TestWithParam<BadEdit> {};

TEST_P(WrongPlan, IsRefusedByEveryCommandThoughItsChecksumsAreRight) {
  const TempFolder folder;
  edit_plan(build_branches(folder), folder.file("bad.plan"), GetParam().edit);
  for (const char* command : kPlanCommands) {
    const Finished finished = call(command, folder.file("bad.plan"));
    expect_refused(finished, "bad.plan'");
    expect_refused_with(finished, GetParam().parts);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, WrongPlan,
    ::testing::Values(
        BadEdit{"ADroppedWait",
                [](Plan& plan) { waiting_record(plan).n_waits = 0; },
                {"program 'test.0'", "task 4 (gemm of 'join'", "is not ordered after task 1"}},
        BadEdit{"AWaitForMoreThanComes",
                [](Plan& plan) { ++waiting_record(plan).waits[0].target; },
                {"program 'test.0'", "task 2", "waits for 2 signals of counter 0", "only 1"}},
        BadEdit{"AWaitForNothing",
                [](Plan& plan) { waiting_record(plan).waits[0].target = 0; },
                {"task 2", "waits for 0 signals of counter 0", "only 1"}},
        BadEdit{"AWaitForAnUnknownCounter",
                [](Plan& plan) { waiting_record(plan).waits[0].counter = 7; },
                {"task 2", "waits for counter 7 of 1"}},
        BadEdit{"TwoBuffersOnTheSameBytes",
                [](Plan& plan) { slot_named(plan, "sa", false).offset_bytes = 64; },
                {"'xb' and 'sa' share bytes of the arena and are in use together"}},
        BadEdit{"ABufferBeyondTheArena",
                [](Plan& plan) { slot_named(plan, "sb", false).offset_bytes = 1 << 20; },
                {"'sb'", "offset 1048576 and 128 bytes do not fit the arena of 320"}},
        BadEdit{"ABufferOffItsAlignment",
                [](Plan& plan) { slot_named(plan, "sb", false).offset_bytes += 4; },
                {"'sb'", "offset 132"}},
        BadEdit{"AnInputAtAnOffset",
                [](Plan& plan) { slot_named(plan, "x", false).offset_bytes = 64; },
                {"'x'", "claims 64 bytes at 64, expected 64 at 0"}},
        BadEdit{"AnOutputThatClaimsMoreThanItsTensor",
                [](Plan& plan) { slot_named(plan, "y", false).storage_bytes = 1 << 20; },
                {"'y'", "claims 1048576 bytes at 0, expected 128 at 0"}},
        BadEdit{"AWeightBeyondTheWeights",
                [](Plan& plan) { slot_named(plan, "b", false).offset_bytes = int64_t{1} << 40; },
                {"slot 8", "lies outside the weights of "}},
        BadEdit{
            "AStrideThatWrapsRound",
            [](Plan& plan) { slot_named(plan, "xa", true).strides[0] = (int64_t{3} << 60) + 4; },
            {"'xa'", "its strides reach past 2^63 bytes"}},
        BadEdit{"AViewBeyondItsStorage",
                [](Plan& plan) { slot_named(plan, "xa", true).offset_bytes = 64; },
                {"'xa'", "bytes 64 to 128 lie outside the storage of 64"}}),
    [](const auto& test) { return test.param.name; });

TEST(BadPlan, APackedWeightThatIsTooShortForItsKernelIsRefused) {
  const TempFolder folder;
  edit_plan(build_branches(folder), folder.file("p"),
            [](Plan& plan) { slot_named(plan, "b", false).storage_bytes = 64; });
  for (const char* command : {"run", "bench"})
    expect_refused_with(call(command, folder.file("p")),
                        {"packed weight in slot 8", "found 64 bytes", "expected "});
}

// A plan of open sizes has expressions that make other sizes' programs.
TEST(BadPlan, AnExpressionOverAnUnknownSymbolIsRefused) {
  const TempFolder folder;
  edit_plan(build_mlp(folder), folder.file("p"),
            [](Plan& plan) { plan.programs[0].parametric.symbols[0] = "other"; });
  expect_refused_with(
      tilewright({"run", folder.file("p"), "--input", "random", "-q"}),
      {"program 0", "expression 0", "found symbol 'batch', expected one of [other]"});
}

TEST(BadPlan, APatchOfAWeightIsRefused) {
  const TempFolder folder;
  edit_plan(build_mlp(folder), folder.file("p"), [](Plan& plan) {
    task::Program& program = plan.programs[0];
    for (size_t i = 0; i < program.slots.size(); ++i)
      if (program.slots[i].space == task::Space::kWeight)
        program.parametric.patches[0].slot = static_cast<task::SlotId>(i);
  });
  expect_refused_with(tilewright({"run", folder.file("p"), "--input", "random", "-q"}),
                      {"program 0", "patch 0", "a weight"});
}

TEST(BadPlan, OpenSizesWithoutAQueueAreRefused) {
  const TempFolder folder;
  edit_plan(build_mlp(folder), folder.file("p"),
            [](Plan& plan) { plan.programs[0].queues.clear(); });
  expect_refused_with(tilewright({"run", folder.file("p"), "--input", "random", "-q"}),
                      {"program 0", "found no queue"});
}

/// Op 0 of a program of open sizes gets two ranges, a bound of `first` elements between them.
void set_ranges(Plan& plan, int64_t first) {
  task::VariantRange small, large;
  small.up_to_elems = first;
  small.variant = 5;
  large.variant = 6;
  plan.programs[0].parametric.variants = {small, large};
  for (task::Record& record : plan.programs[0].records)
    if (record.kind != task::Tasks::number_of<task::JoinTask>() && record.op == 0)
      record.variant = 5;
}

TEST(Plan, RangesOfVariantsAreWrittenAndReadAgain) {
  const TempFolder folder;
  edit_plan(build_mlp(folder), folder.file("p"), [](Plan& plan) { set_ranges(plan, 1 << 20); });
  const auto read = plan::read_plan(folder.file("p"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  const auto& ranges = read.value().programs[0].parametric.variants;
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].up_to_elems, 1 << 20);
  EXPECT_EQ(ranges[0].variant, 5);
  EXPECT_TRUE(ranges[1].is_last());
  EXPECT_EQ(ranges[1].variant, 6);
  EXPECT_NE(tilewright({"inspect", folder.file("p"), "--print"})
                .out.find("variant 5 (5 to 1048576 elements, 6 beyond)"),
            std::string::npos);
}

TEST(BadPlan, RangesOfVariantsThatDoNotAscendAreRefused) {
  const TempFolder folder;
  edit_plan(build_mlp(folder), folder.file("p"), [](Plan& plan) {
    set_ranges(plan, 1 << 20);
    std::swap(plan.programs[0].parametric.variants[0], plan.programs[0].parametric.variants[1]);
  });
  for (const char* command : kPlanCommands)
    expect_refused_with(call(command, folder.file("p")), {"program 0", "range of variants 0",
                                                          "expected a bound in all but the last"});
}

TEST(BadPlan, ARangeOfVariantsForNoTaskIsRefused) {
  const TempFolder folder;
  edit_plan(build_mlp(folder), folder.file("p"), [](Plan& plan) {
    set_ranges(plan, 1 << 20);
    for (task::VariantRange& range : plan.programs[0].parametric.variants) range.op = 99;
  });
  expect_refused_with(call("run", folder.file("p")),
                      {"program 0", "names op 99, which no task is of"});
}

TEST(BadPlan, ARecordOfAnotherVariantThanItsRangeIsRefused) {
  const TempFolder folder;
  edit_plan(build_mlp(folder), folder.file("p"), [](Plan& plan) { set_ranges(plan, 0); });
  expect_refused_with(call("run", folder.file("p")),
                      {"program 'test.0'", "has variant 5, expected 6 for "});
}

TEST(BadPlan, ALoopWhoseBodyTakesAnotherTypeIsRefused) {
  const TempFolder folder;
  const Finished built = tilewright({"build", write_loop(folder), "-o", folder.file("good")});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  edit_plan(folder.file("good"), folder.file("p"), [](Plan& plan) {
    for (plan::Step& step : plan.main.steps)
      if (auto* loop = std::get_if<plan::LoopStep>(&step)) {
        auto body = std::make_shared<plan::Procedure>(*loop->body);
        body->inputs[3].dtype = DType::kF64;
        loop->body = body;
      }
  });
  expect_refused_with(tilewright({"inspect", folder.file("p")}),
                      {"step ", "holds f32, expected f64"});
}

INSTANTIATE_TEST_SUITE_P(
    Procedures, WrongPlan,
    ::testing::Values(
        BadEdit{"AnOutputRegisterOutOfRange",
                [](Plan& plan) { plan.main.output_registers[0] = 99; },
                {"output 'y'", "register 99", "expected below 2"}},
        BadEdit{"AnInputRegisterOutOfRange",
                [](Plan& plan) { run_step(plan).inputs[0] = 99; },
                {"step 0", "register 99", "expected below 2"}},
        BadEdit{"AResultRegisterOutOfRange",
                [](Plan& plan) { run_step(plan).outputs[0] = 99; },
                {"step 0", "register 99", "expected below 2"}},
        BadEdit{"ARegisterThatNothingSets",
                [](Plan& plan) { run_step(plan).inputs[0] = 1; },
                {"step 0", "register 1 is read before anything is in it"}},
        BadEdit{"AConstantRegisterOutOfRange",
                [](Plan& plan) { plan.main.constants.push_back({99, DType::kF32, {1}, 0}); },
                {"constant 0", "register 99", "expected below 2"}},
        BadEdit{
            "AConstantBeyondTheWeights",
            [](Plan& plan) { plan.main.constants.push_back({0, DType::kF32, {1}, 1 << 20}); },
            {"constant 0", "has 4 bytes at 1048576", "expected whole elements in the weights of "}},
        BadEdit{"MoreRegistersThanAnythingSets",
                [](Plan& plan) { plan.main.n_registers = 0xfffffff0U; },
                {"has 4294967280 registers", "expected at most 2"}},
        BadEdit{"AnUnknownProgram",
                [](Plan& plan) { run_step(plan).program = 3; },
                {"step 0", "program 3", "expected below 1"}},
        BadEdit{"AnInputOfAnotherType",
                [](Plan& plan) { plan.main.inputs[0].dtype = DType::kBool; },
                {"step 0", "register 0 holds bool", "expected f32"}},
        BadEdit{"AnOutputOfAnotherType",
                [](Plan& plan) { plan.main.outputs[0].dtype = DType::kI64; },
                {"output 'y'", "register 1 holds f32", "expected i64"}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tw::cli_test
