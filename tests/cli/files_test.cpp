// The files that the program reads and writes: .npy, .npz, TensorProto, JSON; and its tolerance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <limits>

#include "cli/bench.h"
#include "cli/console.h"
#include "cli/json.h"
#include "cli/npy.h"
#include "cli/tensor_proto.h"
#include "cli/tolerance.h"
#include "json_check.h"
#include "process.h"

namespace tw::cli {
namespace {

using cli_test::TempFolder;
using ::testing::HasSubstr;

Tensor counting(DType dtype, const Dims& dims) {
  Tensor tensor = Tensor::try_make(dtype, dims).take();
  for (int64_t i = 0; i < tensor.count(); ++i)
    tensor.set_int(i, i % 2 + (dtype == DType::kBool ? 0 : i));
  return tensor;
}

std::string npy_bytes(const Tensor& tensor) {
  const auto bytes = format_npy(tensor).take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<Tensor> parse(const std::string& text) {
  return parse_npy(std::as_bytes(std::span(text.data(), text.size())));
}

class NpyRoundTrip : public ::testing::TestWithParam<DType> {};

TEST_P(NpyRoundTrip, KeepsTypeShapeAndBytes) {
  for (const Dims& dims : {Dims{}, Dims{5}, Dims{2, 3}, Dims{0, 4}}) {
    const Tensor tensor = counting(GetParam(), dims);
    const auto back = parse(npy_bytes(tensor));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(back.value().type_text(), tensor.type_text());
    EXPECT_EQ(std::memcmp(back.value().data(), tensor.data(), static_cast<size_t>(tensor.bytes())),
              0);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, NpyRoundTrip,
                         ::testing::Values(DType::kF32, DType::kF64, DType::kF16, DType::kI8,
                                           DType::kI16, DType::kI32, DType::kI64, DType::kU8,
                                           DType::kU16, DType::kU32, DType::kU64, DType::kBool));

TEST(Npy, FortranOrderIsTurned) {
  std::string text = npy_bytes(counting(DType::kI64, {2, 3}));
  text.replace(text.find("False"), 5, "True ");
  const auto read = parse(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  // The file's elements 0 2 2 4 4 6 go down the columns.
  EXPECT_EQ(read.value().int_at(0), 0);
  EXPECT_EQ(read.value().int_at(1), 2);
  EXPECT_EQ(read.value().int_at(3), 2);
}

TEST(Npy, EveryCutIsAnError) {
  const std::string whole = npy_bytes(counting(DType::kF32, {2, 3}));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(parse(whole.substr(0, n)).ok()) << n;
}

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string deflated(const std::string& bytes) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(bytes.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A zip of one entry.
std::string zip(const std::string& name, const std::string& bytes, bool compress) {
  const std::string packed = compress ? deflated(bytes) : bytes;
  const auto sizes = [&](std::string& out) {
    put<uint16_t>(out, compress ? 8 : 0);
    put<uint32_t>(out, 0);  // time and date
    put<uint32_t>(out, 0);  // CRC, which we do not read
    put(out, static_cast<uint32_t>(packed.size()));
    put(out, static_cast<uint32_t>(bytes.size()));
    put(out, static_cast<uint16_t>(name.size()));
  };
  std::string out;
  put<uint32_t>(out, 0x04034b50);
  put<uint32_t>(out, 20);
  sizes(out);
  put<uint16_t>(out, 0);
  out += name + packed;
  const auto directory = static_cast<uint32_t>(out.size());
  put<uint32_t>(out, 0x02014b50);
  put<uint16_t>(out, 20);
  put<uint32_t>(out, 20);
  sizes(out);
  out.append(16, '\0');  // extra, comment, disk, attributes, offset 0
  out += name;
  const auto directory_bytes = static_cast<uint32_t>(out.size()) - directory;
  put<uint32_t>(out, 0x06054b50);
  put<uint32_t>(out, 0);
  put<uint16_t>(out, 1);
  put<uint16_t>(out, 1);
  put(out, directory_bytes);
  put(out, directory);
  put<uint16_t>(out, 0);
  return out;
}

TEST(Npz, StoredAndDeflatedArraysAreRead) {
  const TempFolder folder;
  const Tensor tensor = counting(DType::kF32, {40, 50});
  for (const bool compress : {false, true}) {
    cli_test::write_all(folder.file("a.npz"), zip("x.npy", npy_bytes(tensor), compress));
    const auto read = read_npz(folder.file("a.npz"));
    ASSERT_TRUE(read.ok()) << read.error().message;
    ASSERT_EQ(read.value().size(), 1U);
    EXPECT_EQ(read.value()[0].first, "x");
    EXPECT_EQ(std::memcmp(read.value()[0].second.data(), tensor.data(),
                          static_cast<size_t>(tensor.bytes())),
              0);
  }
}

TEST(Npz, EveryCutIsAnError) {
  const TempFolder folder;
  const std::string whole = zip("x.npy", npy_bytes(counting(DType::kF32, {4})), true);
  for (size_t n = 0; n < whole.size(); ++n) {
    cli_test::write_all(folder.file("a.npz"), whole.substr(0, n));
    EXPECT_FALSE(read_npz(folder.file("a.npz")).ok()) << n;
  }
}

TEST(TensorProto, EveryCutOfTheDataIsAnError) {
  std::string proto("\x08\x02\x10\x01\x42\x01x\x4a\x08", 9);
  proto += std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
  const auto bytes = [&](size_t n) { return std::as_bytes(std::span(proto.data(), n)); };
  const auto whole = parse_tensor_proto(bytes(proto.size()));
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(whole.value().name, "x");
  EXPECT_EQ(whole.value().tensor.float_at(1), 2);
  for (size_t n = 0; n < proto.size(); ++n) EXPECT_FALSE(parse_tensor_proto(bytes(n)).ok()) << n;
}

TEST(JsonText, EscapesAndNestsAndReadsBack) {
  const Json json(Json::Object{{"te\"xt\n", "a\\b\x01"},
                               {"n", int64_t{-7}},
                               {"x", 0.1},
                               {"none", Json::Array{}},
                               {"nan", std::numeric_limits<double>::quiet_NaN()},
                               {"list", Json::Array{true, Json::Object{}}}});
  EXPECT_TRUE(cli_test::is_json(json.text())) << json.text();
  EXPECT_THAT(json.text(), HasSubstr("\"x\": 0.1"));
  EXPECT_THAT(json.text(), HasSubstr("\"nan\": null"));
}

TEST(Numbers, AreGroupedAndScaled) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(-123456), "-123,456");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
}

TEST(Figures, InterpolateQuantiles) {
  const Figures figures = figures_of({4, 1, 3, 2, 5});
  EXPECT_EQ(figures.median, 3);
  EXPECT_EQ(figures.mean, 3);
  EXPECT_DOUBLE_EQ(figures.p90, 4.6);
}

TEST(Tolerance, AcceptsRoundingAndRefusesMore) {
  Tensor expected = counting(DType::kF32, {8}), found = counting(DType::kF32, {8});
  found.set_float(5, found.float_at(5) * (1 + 1e-7));
  EXPECT_TRUE(compare(found, expected, 1, {}).ok());
  found.set_float(5, found.float_at(5) + 1e-3);
  const Difference difference = compare(found, expected, 1, {});
  EXPECT_FALSE(difference.ok());
  EXPECT_EQ(difference.element, 5);
}

TEST(Tolerance, WantsInfinitiesAtTheSamePlacesAndEqualIntegers) {
  Tensor expected = counting(DType::kF32, {4}), found = counting(DType::kF32, {4});
  expected.set_float(2, std::numeric_limits<double>::infinity());
  EXPECT_FALSE(compare(found, expected, 1, {}).ok());
  found.set_float(2, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(compare(found, expected, 1, {}).ok());
  Tensor integers = counting(DType::kI64, {4}), others = counting(DType::kI64, {4});
  others.set_int(3, 99);
  EXPECT_FALSE(compare(others, integers, 1e9, {}).ok());
}

}  // namespace
}  // namespace tw::cli
