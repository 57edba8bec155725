#include <limits>

#include "task/test_programs.h"

namespace tw::task {
namespace {

BuildOptions tiles_for(int workers) {
  BuildOptions options;
  options.workers = workers;
  return options;
}

Program diamond_program(int64_t rows) {
  return value_or_fail(build_program(diamond(Dim::symbol("rows")), {"rows"}, {rows}, {}));
}

bool alive_together(const Program& program, SlotId a, SlotId b) {
  uint32_t first[2] = {~0U, ~0U}, last[2] = {0, 0};
  for (const Record& record : program.records)
    for (const Operand& operand : operands(record))
      for (int k = 0; k < 2; ++k)
        if (program.slot(operand.slot).root == (k == 0 ? a : b)) {
          first[k] = std::min(first[k], record.seq);
          last[k] = std::max(last[k], record.seq);
        }
  return first[0] <= last[1] && first[1] <= last[0];
}

TEST(MemoryPlan, BuffersAliveTogetherNeverOverlap) {
  const Program program = diamond_program(8);
  for (size_t a = 0; a < program.slots.size(); ++a)
    for (size_t b = a + 1; b < program.slots.size(); ++b) {
      const SlotInfo &x = program.slots[a], &y = program.slots[b];
      if (x.space != Space::kArena || y.space != Space::kArena ||
          !alive_together(program, x.root, y.root))
        continue;
      EXPECT_TRUE(x.offset_bytes + x.storage_bytes <= y.offset_bytes ||
                  y.offset_bytes + y.storage_bytes <= x.offset_bytes);
    }
}

TEST(MemoryPlan, MemoryIsUsedAgainAfterTheLastRead) {
  const Program program = diamond_program(8);
  EXPECT_EQ(program.arena_bytes, liveness_lower_bound(program));
  EXPECT_LT(program.arena_bytes, 4 * 8 * 64 * 4);
}

TEST(Build, AProgramThatWasBuiltIsProved) {
  EXPECT_TRUE(verify(diamond_program(8)).ok());
  for (const int workers : {2, 8, 132})
    EXPECT_TRUE(
        verify(value_or_fail(build_program(two_gemms(200), {}, {}, tiles_for(workers)))).ok());
}

TEST(Build, TilesOfAnOpAreSharedByTheWorkers) {
  const Program program = value_or_fail(build_program(two_gemms(480), {}, {}, tiles_for(8)));
  EXPECT_EQ(program.queues.size(), 8U);
  for (const Queue& queue : program.queues) EXPECT_GE(queue.count, 2U);
}

TEST(Build, AnEmptyTensorMakesATaskOfNoTiles) {
  const Program program = diamond_program(0);
  for (const Record& record : program.records) EXPECT_EQ(record.tile_end, 0U);
}

TEST(Instantiate, AnotherSizeGivesTheProgramThatItsOwnBuildGives) {
  const Program other = value_or_fail(instantiate(diamond_program(8), {100}));
  Program own = diamond_program(100);
  EXPECT_EQ(print(other), print(own));
}

TEST(Instantiate, NegativeSizesAreRefused) {
  Draft draft = diamond(Dim::symbol("rows") - Dim(4));
  const Program program = value_or_fail(build_program(draft, {"rows"}, {8}, {}));
  EXPECT_FALSE(instantiate(program, {3}).ok());
}

TEST(Instantiate, SizesThatCannotBeRoundedUpToTilesAreRefused) {
  DraftBuilder b;
  const Dim n = Dim::symbol("n");
  const SlotId x = b.root(Space::kInput, {n}, "x", DType::kU8);
  const SlotId y = b.root(Space::kOutput, {n}, "y", DType::kU8);
  b.draft.inputs = {x};
  b.draft.outputs = {y};
  b.emit(CopyTask{{x}, {y}}, "copy");
  const Program program = value_or_fail(build_program(b.draft, {"n"}, {8}, {}));
  const auto made = instantiate(program, {std::numeric_limits<int64_t>::max()});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "'x': u8[9223372036854775807] passes 2^62 bytes");
}

TEST(Instantiate, OpNumbersAreNamesAndMayBeAnything) {
  Program program = diamond_program(8);
  program.records.front().op = 0xffffffffU;
  EXPECT_TRUE(instantiate(program, {100}).ok());
}

TEST(Names, ACopyThatGrowsLeavesTheOtherAsItWas) {
  Names names{"a"};
  Names copy = names;
  copy.push_back("b");
  EXPECT_EQ(names.size(), 1U);
  EXPECT_EQ(copy[1], "b");
}

TEST(BindSymbols, AWrongDimNamesTheInputAndWhatWasExpected) {
  const Program program = diamond_program(8);
  EXPECT_EQ(value_or_fail(bind_symbols(program, {Dims{5, 64}}, {})), std::vector<int64_t>{5});
  const auto wrong = bind_symbols(program, {Dims{5, 63}}, {});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "input 'x' is [5,63], expected [5,64]");
}

TEST(Region, ViewsOfOneStorageAreComparedExactly) {
  DraftBuilder b;
  const SlotId root = b.output({Dim(4), Dim(6)}, "y");
  const SlotId left = b.view(root, {Dim(4), Dim(2)}, {Dim(6), Dim(1)}, Dim(0));
  const SlotId right = b.view(root, {Dim(4), Dim(4)}, {Dim(6), Dim(1)}, Dim(2));
  const SlotId x = b.input({Dim(4), Dim(2)}, "a"), z = b.input({Dim(4), Dim(4)}, "b");
  b.emit(CopyTask{{x}, {left}}, "left");
  b.emit(CopyTask{{z}, {right}}, "right");
  EXPECT_TRUE(verify(value_or_fail(build_program(b.draft, {}, {}, {})))
                  .ok());  // two halves, every element once
}

TEST(Region, AViewThatMeetsAnElementTwiceProvesNoWrites) {
  DraftBuilder b;
  const SlotId root = b.output({Dim(7)}, "y");
  const SlotId windows = b.view(root, {Dim(3), Dim(5)}, {Dim(1), Dim(1)}, Dim(0));
  b.emit(CopyTask{{b.input({Dim(3), Dim(5)}, "x")}, {windows}}, "windows");
  EXPECT_FALSE(build_program(b.draft, {}, {}, {}).ok());
}

TEST(Verify, StridesWhoseReachPassesTheNumbersAreRefused) {
  Program program = diamond_program(8);
  program.slots[index(program.inputs[0])].strides[0] = int64_t{1} << 60;
  EXPECT_EQ(verify(program).error().message, "'x': its strides reach past 2^63 bytes");
}

TEST(Verify, StridesThatNothingIsReachedByAreNumbersThatCanBeMultipliedToo) {
  constexpr const char* kWhy = "'x': its strides reach past 2^63 bytes";
  for (const int64_t size : {1, 0}) {
    Program program = diamond_program(8);
    SlotInfo& x = program.slots[index(program.inputs[0])];
    x.dims[0] = size;
    x.strides[0] = -std::numeric_limits<int64_t>::max();
    EXPECT_EQ(verify(program).error().message, kWhy) << size;
  }
}

TEST(Verify, AnOutputThatIsNotWrittenInFullIsRefused) {
  DraftBuilder b;
  const SlotId root = b.output({Dim(4), Dim(6)}, "y");
  const SlotId left = b.view(root, {Dim(4), Dim(2)}, {Dim(6), Dim(1)}, Dim(0));
  const SlotId x = b.input({Dim(4), Dim(2)}, "a");
  b.emit(CopyTask{{x}, {left}}, "left");
  const auto built = build_program(b.draft, {}, {}, {});
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().message, "output 'y': 8 of 24 elements are written");
}

TEST(Verify, AWeightIsNotWrittenWhateverItsFlagsSay) {
  DraftBuilder b;
  const SlotId x = b.input({Dim(4), Dim(6)}, "x"), y = b.output({Dim(4), Dim(6)}, "y");
  const SlotId weight = b.root(Space::kWeight, {Dim(4), Dim(6)}, "w");
  b.draft.slots[index(weight)].info.flags = 0;
  b.unary(x, weight, "first");
  b.unary(weight, y, "second");
  const auto built = build_program(b.draft, {}, {}, {});
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().message,
            "task 0 (elementwise of 'first', tiles 0 to 1): writes 'w', which may only be read");
}

/// Nearest copies elements: of another type they would leave bytes of y unwritten, or pass its end.
TEST(Verify, AResizeThatCopiesElementsOfAnotherTypeIsRefused) {
  for (const DType other : {DType::kI64, DType::kF16}) {
    DraftBuilder b;
    ResizeTask task;
    task.x.id = b.input({Dim(3), Dim(5), Dim(2)}, "x");
    task.y.id = b.output({Dim(3), Dim(1), Dim(2)}, "y");
    b.draft.slots[index(task.y.id)].info.dtype = other;
    b.draft.slots[index(task.y.id)].storage_bytes = Dim(6 * size_bytes(other));
    b.emit(task, "resize");
    const auto built = build_program(b.draft, {}, {}, {});
    ASSERT_FALSE(built.ok()) << cat(other);
    EXPECT_EQ(built.error().message, cat("resize: nearest of f32 into ", other));
  }
}

TEST(Verify, AResizeOfNothingIntoSomethingIsRefused) {
  for (const int64_t rows : {0, 1}) {
    DraftBuilder b;
    ResizeTask task;
    task.x.id = b.input({Dim(2), Dim(0), Dim(3)}, "x");
    task.y.id = b.output({Dim(2), Dim(rows), Dim(3)}, "y");
    b.emit(task, "resize");
    EXPECT_EQ(build_program(b.draft, {}, {}, {}).ok(), rows == 0) << rows;
  }
}

/// Where a packed operand lies follows from the kind, which only products know.
TEST(Verify, AWeightOfARecurrentLayerIsNotPacked) {
  for (const Layout layout : {Layout::kStrided, Layout::kPanels}) {
    DraftBuilder b;
    RecurrentTask task;
    task.x.id = b.input({Dim(3), Dim(1), Dim(2)}, "x");
    task.w.id = b.input({Dim(1), Dim(12), Dim(2)}, "w");
    task.r.id = b.input({Dim(1), Dim(12), Dim(3)}, "r");
    task.y.id = b.output({Dim(3), Dim(1), Dim(1), Dim(3)}, "y");
    b.draft.slots[index(task.w.id)].info.layout = layout;
    b.emit(task, "lstm");
    const auto built = build_program(b.draft, {}, {}, {});
    EXPECT_EQ(built.ok() ? "" : built.error().message,
              layout == Layout::kStrided ? "" : "lstm: operand 'w' may not be packed");
  }
}

TEST(Verify, AnArenaOfLessThanNothingIsRefused) {
  DraftBuilder b;
  const SlotId x = b.input({Dim(4)}, "x"), y = b.output({Dim(4)}, "y");
  b.unary(x, y, "one");
  Program program = build_program(b.draft, {}, {}, {}).value();
  ASSERT_TRUE(verify(program).ok());
  program.arena_bytes = -1;
  ASSERT_FALSE(verify(program).ok());
  EXPECT_EQ(verify(program).error().message, "an arena of -1 bytes");
}

TEST(Verify, AResizeByNoScaleIsRefused) {
  for (const float scale : {0.0F, -1.0F, std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::quiet_NaN()}) {
    DraftBuilder b;
    ResizeTask task;
    task.x.id = b.input({Dim(3), Dim(5), Dim(2)}, "x");
    task.y.id = b.output({Dim(3), Dim(1), Dim(2)}, "y");
    task.scale[0] = scale;
    b.emit(task, "resize");
    EXPECT_FALSE(build_program(b.draft, {}, {}, {}).ok()) << scale;
    b.draft.tasks.clear();
    task.scale_from_sizes = 1;
    b.emit(task, "resize");
    EXPECT_TRUE(build_program(b.draft, {}, {}, {}).ok()) << "the scale is not used";
  }
}

TEST(Verify, TwoWritersOfAnElementAreRefused) {
  DraftBuilder b;
  const SlotId x = b.input({Dim(4), Dim(6)}, "x"), y = b.output({Dim(4), Dim(6)}, "y");
  b.unary(x, y, "first");
  b.unary(x, y, "second");
  EXPECT_FALSE(build_program(b.draft, {}, {}, {}).ok());
}

}  // namespace
}  // namespace tw::task
