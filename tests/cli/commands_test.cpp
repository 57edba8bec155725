// What the commands do with good input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/npy.h"
#include "isa/isa.h"
#include "json_check.h"
#include "models.h"

namespace tw::cli_test {
namespace {

using ::testing::HasSubstr;

TEST(Build, MakesAnOpenBatchOneAndSaysSo) {
  const TempFolder folder;
  const Finished built = tilewright({"build", write_mlp(folder), "-o", folder.file("p")});
  EXPECT_EQ(built.exit_code, 0) << built.err;
  EXPECT_THAT(
      built.err,
      HasSubstr("note: batch 'batch' of input 'x' becomes 1; to keep it open: --shapes x:Nx4"));
  EXPECT_EQ(tilewright({"build", write_mlp(folder), "-o", folder.file("p"), "--quiet"}).err, "");
}

TEST(Build, GivesACommandToPasteWhenASizeIsOpen) {
  const TempFolder folder;
  const Finished built = tilewright({"build", write_text_model(folder), "-o", folder.file("p")});
  EXPECT_EQ(built.exit_code, 1);
  EXPECT_THAT(built.err, HasSubstr("size 'sequence' of input 'input_ids' is open"));
  const size_t at = built.err.find("tilewright build");
  ASSERT_NE(at, std::string::npos) << built.err;
  const std::string command =
      cli_path(isa_of_test()) + built.err.substr(at + std::string("tilewright").size());
  EXPECT_EQ(run({"sh", "-c", command}).exit_code, 0) << command;
}

TEST(Build, EqualLettersMakeEqualSizes) {
  const TempFolder folder;
  EXPECT_EQ(tilewright({"build", write_text_model(folder), "-o", folder.file("p"), "--shapes",
                        "input_ids:NxN,attention_mask:NxN,token_type_ids:NxN"})
                .exit_code,
            0);
  const Finished inspected = tilewright({"inspect", folder.file("p")});
  EXPECT_THAT(inspected.out, HasSubstr("output total: f32[batch,batch]"));
}

TEST(Build, GivesEqualBytesTwice) {
  const TempFolder folder;
  const std::string first = read_all(build_mlp(folder));
  EXPECT_EQ(first, read_all(build_mlp(folder)));
}

TEST(Run, WritesOutputsAndDescribesThem) {
  const TempFolder folder;
  const std::string input = write_npy(folder, "x.npy", "f32", {2, 4});
  const Finished finished = tilewright({"run", build_mlp(folder), "--input", "x=" + input,
                                        "--output-dir", folder.file("out/deep"), "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(is_json(finished.out)) << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("\"schema_version\": 1"));
  auto output = cli::read_npy(folder.file("out/deep/y.npy"));
  ASSERT_TRUE(output.ok()) << output.error().message;
  EXPECT_EQ(output.value().type_text(), "f32[2,8]");
  EXPECT_EQ(output.value().float_at(0), 1 + (0 + 1 + 2 + 3) / 8.0);
  EXPECT_EQ(output.value().float_at(8), 1 + (4 + 5 + 6 + 7) / 8.0);
}

TEST(Run, GivesTheSameBitsInEveryOrderAndFromTheModel) {
  const TempFolder folder;
  const std::string plan = build_mlp(folder), input = write_npy(folder, "x.npy", "f32", {3, 4});
  const auto bits = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--input", input, "--output-dir", folder.file("out")});
    EXPECT_EQ(tilewright(arguments).exit_code, 0);
    return read_all(folder.file("out/y.npy"));
  };
  const std::string wanted = bits({"run", plan});
  EXPECT_EQ(bits({"run", plan, "--order", "random:7"}), wanted);
  EXPECT_EQ(bits({"run", plan, "--checked"}), wanted);
  EXPECT_EQ(bits({"run", plan, "--threads", "3"}), wanted);
  EXPECT_EQ(bits({"run", folder.file("mlp.onnx"), "--shapes", "x:Nx4"}), wanted);
}

TEST(Bench, ReportsEveryFigureWithItsUnit) {
  const TempFolder folder;
  const Finished finished =
      tilewright({"bench", build_mlp(folder), "--shapes", "x:2x4", "--warmup-ms", "1",
                  "--duration-s", "0.05", "--threads", "1", "--json", folder.file("b.json")});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::string json = read_all(folder.file("b.json"));
  EXPECT_TRUE(is_json(json));
  for (const char* key : {"schema_version", "latency_min_ms", "latency_max_ms", "latency_mean_ms",
                          "latency_median_ms", "latency_p90_ms", "latency_p95_ms", "latency_p99_ms",
                          "throughput_runs_per_s", "load_ms", "first_inference_ms", "weights_bytes",
                          "arena_bytes", "engine_bytes", "resident_bytes"})
    EXPECT_THAT(json, HasSubstr(cat("\"", key, "\"")));
}

TEST(Bench, TakesRandomSizes) {
  const TempFolder folder;
  const Finished finished = tilewright(
      {"bench", build_mlp(folder), "--shapes-random", "5", "--json", folder.file("b.json")});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(is_json(read_all(folder.file("b.json"))));
  EXPECT_THAT(read_all(folder.file("b.json")), HasSubstr("\"highest_ratio\""));
}

TEST(Verify, ComparesEveryLayer) {
  const TempFolder folder;
  const Finished finished = tilewright({"verify", write_mlp(folder), "--shapes", "x:3x4"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, ::testing::ContainsRegex("layers: ([0-9]+) of [0-9]+ compared alone"));
  EXPECT_THAT(finished.out, HasSubstr("verified"));
}

TEST(Verify, NamesTheOutputThatDiffersFromWhatIsExpected) {
  const TempFolder folder;
  const std::string input = write_npy(folder, "x.npy", "f32", {1, 4});
  write_npy(folder, "y.npy", "f32", {1, 8});
  const Finished finished = tilewright({"verify", write_mlp(folder), "--inputs", folder.path(),
                                        "--expect", folder.path(), "--bisect"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("output 'y' differs by "));
  EXPECT_THAT(finished.err, HasSubstr("every layer is right"));
}

/// `verify` of write_branches' model by a program with a wrong kernel (wrong_kernel.cpp).
Finished verify_wrong(const std::string& fault, const TempFolder& folder,
                      std::vector<std::string> options) {
  options.insert(options.begin(), {cli_path(fault), "verify", write_branches(folder), "--quiet"});
  return run(options);
}

TEST(Verify, NamesTheFirstLayerThatAWrongKernelSpoils) {
  const TempFolder folder;
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--bisect"}, {"--layers", "3:4"}, {"--portable"}})
    expect_refused_with(verify_wrong("wrong_value", folder, options),
                        {"layer 3 'right_softmax' (softmax) output 0 differs by ", "at element ",
                         "expected at most "});
}

TEST(Verify, FindsNothingWrongInTheLayersBeforeAWrongKernel) {
  const TempFolder folder;
  const Finished finished = verify_wrong("wrong_value", folder, {"--layers", "0:3"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("layers: 3 of 5 compared alone"));
}

TEST(Verify, BisectsToTheLayerThatReadsWhatAnotherOneSpoilt) {
  const TempFolder folder;
  expect_refused_with(verify_wrong("overrun", folder, {}),
                      {"output 'y' differs by ", "--bisect finds the layer"});
  expect_refused_with(
      verify_wrong("overrun", folder, {"--bisect"}),
      {"output 'y' differs by ", "the first wrong value is that of layer 4 'join'"});
}

TEST(Inspect, ShowsContractSignatureProgramsAndSections) {
  const TempFolder folder;
  const std::string plan = build_mlp(folder);
  const Finished text = tilewright({"inspect", plan, "--memory", "--print", "--shapes", "x:5x4"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const char* part :
       {"target: cpu", "input x: f32[batch,4]", "output y: f32[batch,8]", "at batch=5",
        "alive at one task", "hsd share: ", "section weights: ", "queue 0"})
    EXPECT_THAT(text.out, HasSubstr(part));
  const Finished json = tilewright({"inspect", plan, "--json"});
  EXPECT_TRUE(is_json(json.out)) << json.out;
}

TEST(Explain, PrintsTheCompilersSentences) {
  const TempFolder folder;
  EXPECT_THAT(tilewright({"explain", build_mlp(folder)}).out, HasSubstr("pass fuse_linear"));
  EXPECT_THAT(tilewright({"explain", folder.file("mlp.onnx"), "--quiet"}).out,
              HasSubstr("pass fuse_linear"));
}

TEST(Doctor, SaysWhetherAPlanRunsHere) {
  const TempFolder folder;
  const Finished finished = tilewright({"doctor", build_mlp(folder)});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("runs here"));
  EXPECT_TRUE(is_json(tilewright({"doctor", "--json"}).out));
}

TEST(TestDataSet, IsReadInTheOrderOfTheInputs) {
  const TempFolder folder;
  // TensorProto: dims 1 and 4, data_type 1 (float), raw_data of four floats 1.
  std::string proto("\x08\x01\x08\x04\x10\x01\x4a\x10", 8);
  for (int i = 0; i < 4; ++i) proto += std::string("\x00\x00\x80\x3f", 4);
  write_all(folder.file("input_0.pb"), proto);
  const Finished finished = tilewright(
      {"run", build_mlp(folder), "--input", folder.path(), "--output-dir", folder.file("out")});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  auto output = cli::read_npy(folder.file("out/y.npy"));
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output.value().float_at(0), 5);
}

}  // namespace
}  // namespace tw::cli_test
