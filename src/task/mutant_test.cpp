// Single faults in proved programs: the verifier rejects each, unless what is left still orders
// everything that has to be.
#include <random>

#include "task/happens_before.h"
#include "task/test_programs.h"

namespace tw::task {
namespace {

Program tile_program(int workers) {
  BuildOptions options;
  options.workers = workers;
  return value_or_fail(build_program(two_gemms(300), {}, {}, options));
}

std::vector<Program> programs() {
  std::vector<Program> list{value_or_fail(build_program(diamond(Dim(16)), {}, {}, {})),
                            tile_program(3), tile_program(8)};
  return list;
}

TEST(Mutants, AWaitForMoreSignalsThanComeIsRejected) {
  for (Program program : programs())
    for (Record& record : program.records) {
      if (record.n_waits == 0) continue;
      ++record.waits[0].target;
      EXPECT_FALSE(verify(program).ok());
      --record.waits[0].target;
    }
}

TEST(Mutants, ATileDoneTwiceOrNotAtAllIsRejected) {
  for (Program program : programs())
    for (Record& record : program.records) {
      if (record.tile_end == 0 || record.kind == Tasks::number_of<JoinTask>()) continue;
      --record.tile_end;
      EXPECT_FALSE(verify(program).ok());
      ++record.tile_end;
    }
}

TEST(Mutants, AWaitForFewerSignalsIsRejectedUnlessThoseAreEnough) {
  Program program = tile_program(8);
  int rejected = 0, mutants = 0;
  for (Record& record : program.records)
    for (size_t w = 0; w < record.n_waits; ++w) {
      --record.waits[w].target;
      rejected += verify(program).ok() ? 0 : 1;
      ++mutants;
      ++record.waits[w].target;
    }
  EXPECT_GT(mutants, 10);
  EXPECT_EQ(rejected, mutants);
}

TEST(Mutants, BuffersMovedOntoEachOtherAreRejected) {
  Program program = value_or_fail(build_program(diamond(Dim(16)), {}, {}, {}));
  for (SlotInfo& slot : program.slots) {
    if (slot.space != Space::kArena || slot.offset_bytes == 0) continue;
    const int64_t offset = slot.offset_bytes;
    slot.offset_bytes -= 64;
    EXPECT_FALSE(verify(program).ok());
    slot.offset_bytes = offset;
  }
}

TEST(Mutants, AnOperandThatNamesAnotherSlotIsRejected) {
  Program program = value_or_fail(build_program(diamond(Dim(16)), {}, {}, {}));
  for (Record& record : program.records) {
    const SlotId last = record.operands[8];  // the output of an elementwise task
    record.operands[8] = program.inputs[0];
    EXPECT_FALSE(verify(program).ok());
    record.operands[8] = static_cast<SlotId>(program.slots.size());
    EXPECT_FALSE(verify(program).ok());
    record.operands[8] = last;
  }
}

}  // namespace
}  // namespace tw::task
