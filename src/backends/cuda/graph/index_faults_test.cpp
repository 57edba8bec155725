// index_faults_test.cpp: a kernel's word about an index becomes the sentence of the CPU backend.
#include "backends/cuda/graph/index_faults.h"

#include <gtest/gtest.h>

namespace tw::cuda {
namespace {

/// A program of one task, number 2, over x [5, 6, 7].
template <class Task>
task::Program program_of(const Task& task) {
  task::Program program;
  task::SlotInfo x;
  x.rank = 3;
  x.dims[0] = 5;
  x.dims[1] = 6;
  x.dims[2] = 7;
  program.slots.push_back(x);
  task::Record record = task::encode(task);
  record.seq = 2;
  record.op = 1;
  program.records.push_back(record);
  program.op_names = {"first", "lookup"};
  return program;
}

IndexFault fault_of(uint64_t task, uint64_t d, int64_t index) {
  const auto place = static_cast<uint64_t>(9 + kFaultPlaceBias);
  return {task << kFaultTaskShift | place << kFaultDimBits | d, index, nullptr};
}

std::string sentence(const task::Program& program, const IndexFault& fault) {
  return index_error(program, fault).message;
}

task::GatherTask gather(task::GatherTask::Kind kind) {
  task::GatherTask task;
  task.x.id = static_cast<task::SlotId>(0);
  task.kind = kind;
  task.axis = 1;
  task.batch_dims = 1;
  return task;
}

TEST(IndexError, OfAGatherNamesTaskIndexAxisAndRange) {
  EXPECT_EQ(sentence(program_of(gather(task::GatherTask::Kind::kTake)), fault_of(2, 0, 6)),
            "task 2 (gather 'lookup'): index 6 on axis 1 is out of range: expected -6 to 5");
}

TEST(IndexError, OfATupleNamesTheAxisThatItsNumberCounts) {
  EXPECT_EQ(sentence(program_of(gather(task::GatherTask::Kind::kNd)), fault_of(2, 1, -8)),
            "task 2 (gather 'lookup'): index -8 on axis 2 is out of range: expected -7 to 6");
}

TEST(IndexError, OfAScatterIsAboutWhatIsWritten) {
  task::ScatterTask task;
  task.y.id = static_cast<task::SlotId>(0);
  task.kind = task::ScatterTask::Kind::kNd;
  EXPECT_EQ(sentence(program_of(task), fault_of(2, 0, 5)),
            "task 2 (scatter 'lookup'): index 5 on axis 0 is out of range: expected -5 to 4");
}

TEST(IndexError, OfATaskThatTakesNoIndicesIsOurMistake) {
  EXPECT_EQ(index_error(program_of(task::CopyTask{}), fault_of(2, 0, 5)).code, Code::kInternal);
  EXPECT_EQ(index_error(program_of(gather(task::GatherTask::Kind::kTake)), fault_of(7, 0, 5)).code,
            Code::kInternal);
}

TEST(FaultKey, IsLowestForTheFirstTaskThenTheFirstPlaceThenTheFirstNumber) {
  const auto key = [](uint64_t task, int64_t place, uint64_t d) {
    return task << kFaultTaskShift |
           static_cast<uint64_t>(place + kFaultPlaceBias) << kFaultDimBits | d;
  };
  EXPECT_LT(key(1, int64_t{1} << 35, 7), key(2, -(int64_t{1} << 35), 0));
  EXPECT_LT(key(1, -3, 7), key(1, 4, 0));
  EXPECT_LT(key(1, 4, 0), key(1, 4, 1));
  EXPECT_LT(key(0xffffff - 1, 0, 0), kNoFault);
}

}  // namespace
}  // namespace tw::cuda
