// Weights in files beside the model: read where they are allowed to be, refused elsewhere.
#include "frontends/onnx/external_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "frontends/onnx/test_models.h"

namespace tw::onnx {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class ExternalData : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            cat("external_", testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    folder_ = root_ / "model";
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(root_); }

  static void write(const fs::path& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  /// Imports a model whose 4x8 weight has these entries.
  Result<ir::Graph> import_with(const std::vector<std::pair<std::string, std::string>>& entries) {
    pb::ModelProto model = mlp_model();
    pb::TensorProto& weight = *model.mutable_graph()->mutable_initializer(0);
    weight.clear_float_data();
    weight.set_data_location(pb::TensorProto::EXTERNAL);
    for (const auto& [key, value] : entries) {
      auto& entry = *weight.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    write(folder_ / "m.onnx", bytes_of(model));
    return import_onnx(folder_ / "m.onnx");
  }

  fs::path root_;
  fs::path folder_;
};

constexpr size_t kWeightBytes = 4 * 8 * 4;

TEST_F(ExternalData, IsReadFromOffsetOn) {
  const float value = 2.5F;
  std::string bytes(64, 'x');
  for (int i = 0; i < 32; ++i) bytes.append(reinterpret_cast<const char*>(&value), 4);
  write(folder_ / "w.bin", bytes);
  const auto graph = import_with({{"location", "w.bin"}, {"offset", "64"}, {"length", "128"}});
  ASSERT_TRUE(graph.ok()) << error_of(graph);
  EXPECT_EQ(value_named(graph.value(), "w").constant->float_at(31), 2.5);
}

TEST_F(ExternalData, AnUnalignedOffsetAndASubfolderAreFine) {
  fs::create_directories(folder_ / "weights");
  write(folder_ / "weights" / "w.bin", std::string(kWeightBytes + 3, '\0'));
  const auto graph = import_with({{"location", "weights/w.bin"}, {"offset", "3"}});
  ASSERT_TRUE(graph.ok()) << error_of(graph);
  EXPECT_EQ(value_named(graph.value(), "w").constant->float_at(0), 0);
}

TEST_F(ExternalData, PastFourGigabytesIsMapped) {
  const std::string path = folder_ / "w.bin";
  write(path, "");
  constexpr int64_t kOffset = int64_t{5} << 30;  // a sparse file: takes no space
  ASSERT_EQ(::truncate(path.c_str(), kOffset + static_cast<int64_t>(kWeightBytes)), 0);
  const auto graph = import_with({{"location", "w.bin"}, {"offset", cat(kOffset)}});
  ASSERT_TRUE(graph.ok()) << error_of(graph);
  EXPECT_EQ(value_named(graph.value(), "w").constant->float_at(31), 0);
}

TEST_F(ExternalData, AMissingFileIsNamed) {
  EXPECT_THAT(error_of(import_with({{"location", "w.bin"}})),
              HasSubstr("m.onnx': initialiser 'w': external data: file 'w.bin' of the model's "
                        "folder: No such file"));
}

TEST_F(ExternalData, AShortFileIsRefused) {
  write(folder_ / "w.bin", std::string(100, '\0'));
  EXPECT_THAT(error_of(import_with({{"location", "w.bin"}})),
              HasSubstr("file 'w.bin' has 100 bytes, expected 128 from offset 0 on"));
  EXPECT_THAT(error_of(import_with({{"location", "w.bin"}, {"offset", "9223372036854775807"}})),
              HasSubstr("expected 128 from offset 9223372036854775807 on"));
}

TEST_F(ExternalData, WrongNumbersAreRefused) {
  write(folder_ / "w.bin", std::string(200, '\0'));
  EXPECT_THAT(error_of(import_with({{"location", "w.bin"}, {"length", "64"}})),
              HasSubstr("length is 64 bytes, expected 128"));
  EXPECT_THAT(error_of(import_with({{"location", "w.bin"}, {"offset", "-4"}})),
              HasSubstr("offset is '-4', expected a number of bytes"));
  EXPECT_THAT(error_of(import_with({{"location", "w.bin"}, {"offset", "99999999999999999999"}})),
              HasSubstr("expected a number of bytes"));
}

TEST_F(ExternalData, PathsOutOfTheFolderAreRefused) {
  write(root_ / "secret", std::string(200, '\0'));
  EXPECT_THAT(error_of(import_with({{"location", "../secret"}})), HasSubstr("leaves the folder"));
  EXPECT_THAT(error_of(import_with({{"location", "a/../../secret"}})),
              HasSubstr("leaves the folder"));
  EXPECT_THAT(error_of(import_with({{"location", (root_ / "secret").string()}})),
              HasSubstr("is absolute"));
  EXPECT_THAT(error_of(import_with({{"location", ""}})), HasSubstr("no location"));
  EXPECT_THAT(error_of(import_with({{"location", std::string("w\0.bin", 6)}})),
              HasSubstr("has a zero byte"));
}

TEST_F(ExternalData, LinksOutOfTheFolderAreRefused) {
  write(root_ / "secret", std::string(200, '\0'));
  fs::create_symlink(root_ / "secret", folder_ / "w.bin");
  EXPECT_THAT(error_of(import_with({{"location", "w.bin"}})),
              HasSubstr("is a link out of the folder"));
  fs::create_directory_symlink(root_, folder_ / "up");
  EXPECT_THAT(error_of(import_with({{"location", "up/secret"}})),
              HasSubstr("is a link out of the folder"));
}

TEST_F(ExternalData, LinksWithinTheFolderAreFine) {
  write(folder_ / "real.bin", std::string(kWeightBytes, '\0'));
  fs::create_symlink("real.bin", folder_ / "w.bin");
  EXPECT_EQ(error_of(import_with({{"location", "w.bin"}})), "imported");
}

TEST_F(ExternalData, AFolderIsNoFile) {
  fs::create_directories(folder_ / "w.bin");
  EXPECT_THAT(error_of(import_with({{"location", "w.bin"}})), HasSubstr("is a directory"));
}

TEST_F(ExternalData, AModelGivenAsBytesHasNone) {
  pb::ModelProto model = mlp_model();
  pb::TensorProto& weight = *model.mutable_graph()->mutable_initializer(0);
  weight.clear_float_data();
  weight.set_data_location(pb::TensorProto::EXTERNAL);
  weight.add_external_data()->set_key("location");
  weight.mutable_external_data(0)->set_value("w.bin");
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("the model came as bytes without a folder"));
}

}  // namespace
}  // namespace tw::onnx
