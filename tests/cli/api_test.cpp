// The public C++ API.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "isa/isa.h"
#include "models.h"
#include "tilewright/tilewright.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using tw::cli_test::TempFolder;
using tw::cli_test::write_mlp;

Plan mlp_plan(const TempFolder& folder) {
  CompileOptions options;
  options.shapes["x"] = "Nx4";
  options.isa = tw::isa_of_test();
  auto plan = compile_onnx(write_mlp(folder), options);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return std::move(plan).value();
}

TEST(ApiPlan, TellsItsSignature) {
  const TempFolder folder;
  const Plan plan = mlp_plan(folder);
  ASSERT_EQ(plan.inputs().size(), 1U);
  EXPECT_EQ(plan.inputs()[0].name, "x");
  EXPECT_EQ(plan.inputs()[0].dims, (std::vector<std::string>{"batch", "4"}));
  EXPECT_EQ(plan.outputs()[0].dims, (std::vector<std::string>{"batch", "8"}));
  EXPECT_THAT(std::string(plan.contract("target")), HasSubstr("cpu"));
  EXPECT_EQ(plan.contract("no such key"), "");
  EXPECT_EQ(plan.tasks(), 1);  // product, bias and relu are one
  EXPECT_GE(plan.weights_bytes(), (4 * 8 + 8) * 4);
}

TEST(ApiPlan, SavesAndLoads) {
  const TempFolder folder;
  ASSERT_TRUE(mlp_plan(folder).save(folder.file("p")).ok());
  const auto loaded = Plan::load(folder.file("p"));
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->outputs()[0].name, "y");
  EXPECT_EQ(Plan::load(folder.file("none")).error().code, Code::kNotFound);
  EXPECT_EQ(mlp_plan(folder).save(folder.file("no/folder")).error().code, Code::kIo);
}

TEST(ApiCompile, NotesWhatItAssumesAndRefusesWithASentence) {
  const TempFolder folder;
  std::vector<std::string> notes;
  CompileOptions options;
  options.note = [&](std::string_view text) { notes.emplace_back(text); };
  EXPECT_TRUE(compile_onnx(write_mlp(folder), options).ok());
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes[0], HasSubstr("becomes 1"));
  options.isa = "sse5";
  EXPECT_EQ(compile_onnx(write_mlp(folder), options).error().code, Code::kInvalidArgument);
  options = {};
  options.shapes["x"] = "1x";
  EXPECT_THAT(compile_onnx(write_mlp(folder), options).error().message, HasSubstr("shapes of 'x'"));
}

TEST(ApiContext, RunsOnOwnedAndOnViewedMemory) {
  const TempFolder folder;
  const auto engine = Engine::create(mlp_plan(folder), {.threads = 2});
  ASSERT_TRUE(engine.ok());
  EXPECT_EQ(engine->threads(), 2);
  Context context = engine->create_context();
  std::vector<float> memory = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto owned = context.run({*Tensor::from<float>({2, 4}, memory)});
  const auto viewed = context.run({*Tensor::view(DType::kF32, {2, 4}, memory.data())});
  ASSERT_TRUE(owned.ok() && viewed.ok());
  EXPECT_EQ((*owned)[0].type_text(), "f32[2,8]");
  EXPECT_EQ((*owned)[0].as<float>()[0], 11);
  EXPECT_EQ((*viewed)[0].as<float>()[8], 27);
  EXPECT_EQ((*viewed)[0].as<double>(), nullptr);
}

TEST(ApiContext, RefusesWhatThePlanDoesNotTake) {
  const TempFolder folder;
  const auto engine = Engine::create(mlp_plan(folder), {.threads = 1});
  Context context = engine->create_context();
  EXPECT_THAT(context.run({}).error().message, HasSubstr("found 0 inputs, expected 1"));
  EXPECT_THAT(context.run({*Tensor::create(DType::kF32, {2, 5})}).error().message,
              HasSubstr("input 'x' is f32[2,5], expected f32[batch,4]"));
  EXPECT_EQ(context.run({*Tensor::create(DType::kI64, {2, 4})}).error().code,
            Code::kInvalidArgument);
}

TEST(ApiEngine, SeveralThreadsRunTheirOwnContexts) {
  const TempFolder folder;
  const auto engine = Engine::create(mlp_plan(folder), {.threads = 2});
  const auto work = [&](int64_t rows) {
    Context context = engine->create_context();
    for (int i = 0; i < 50; ++i) {
      const auto outputs = context.run({*Tensor::create(DType::kF32, {rows, 4})});
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      EXPECT_EQ((*outputs)[0].as<float>()[8 * rows - 1], 1);
    }
  };
  std::thread other(work, 3);
  work(5);
  other.join();
}

TEST(ApiTensor, ChecksSizes) {
  EXPECT_EQ(Tensor().type_text(), "f32[]");
  EXPECT_EQ(Tensor::create(DType::kF32, {-1}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(Tensor::create(DType::kF32, std::vector<int64_t>(9, 1)).error().code,
            Code::kInvalidArgument);
  EXPECT_EQ(Tensor::create(DType::kF64, {int64_t{1} << 40, int64_t{1} << 40}).error().code,
            Code::kOutOfMemory);
  EXPECT_THAT(Tensor::from<float>({3}, {1, 2}).error().message,
              HasSubstr("f32[3] holds 3 elements, found 2"));
  EXPECT_EQ(Tensor::view(DType::kF32, {2}, nullptr).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace tilewright
