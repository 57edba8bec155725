// Initialisers in every element type and form, and the sizes that do not fit.
#include "frontends/onnx/tensor_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::onnx {
namespace {

using testing::HasSubstr;

constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kUint16 = 4, kInt16 = 5, kInt32 = 6, kInt64 = 7,
              kString = 8, kBool = 9, kFloat16 = 10, kDouble = 11, kUint32 = 12, kUint64 = 13,
              kBfloat16 = 16, kFloat8E4M3 = 17, kFloat8E5M2 = 19, kInt4 = 22;

Result<Tensor> make(const TensorFields& fields) {
  ExternalFiles files("");
  return make_tensor(fields, nullptr, files);
}

Tensor value_or_fail(const Result<Tensor>& tensor) {
  EXPECT_TRUE(tensor.ok()) << (tensor.ok() ? "" : tensor.error().message);
  return tensor.ok() ? tensor.value() : Tensor::from_ints(std::vector<int64_t>(8));
}

std::string error_of(const TensorFields& fields) {
  const auto tensor = make(fields);
  return tensor.ok() ? "made" : tensor.error().message;
}

struct NarrowCase {
  int type;
  int32_t stored;
  double value;
};

class Int32Data : public testing::TestWithParam<NarrowCase> {};

TEST_P(Int32Data, HoldsTheElement) {
  const int32_t data[] = {GetParam().stored};
  const Tensor tensor = value_or_fail(make({.data_type = GetParam().type, .ints32 = data}));
  EXPECT_EQ(tensor.float_at(0), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    Types, Int32Data,
    testing::Values(NarrowCase{kUint8, 255, 255}, NarrowCase{kInt8, -128, -128},
                    NarrowCase{kUint16, 65535, 65535}, NarrowCase{kInt16, -32768, -32768},
                    NarrowCase{kInt32, -7, -7}, NarrowCase{kBool, 1, 1},
                    NarrowCase{kFloat16, 0x3e00, 1.5}, NarrowCase{kBfloat16, 0x3fc0, 1.5},
                    NarrowCase{kFloat8E4M3, 0x3c, 1.5}, NarrowCase{kFloat8E5M2, 0x3e, 1.5}));

TEST(TensorData, OtherTypedFieldsHoldTheirTypes) {
  const float floats[] = {0.5F};
  const double doubles[] = {0.25};
  const int64_t ints[] = {-5};
  const uint64_t uints[] = {4000000000U};
  EXPECT_EQ(value_or_fail(make({.data_type = kFloat, .floats = floats})).float_at(0), 0.5);
  EXPECT_EQ(value_or_fail(make({.data_type = kDouble, .doubles = doubles})).float_at(0), 0.25);
  EXPECT_EQ(value_or_fail(make({.data_type = kInt64, .ints64 = ints})).int_at(0), -5);
  EXPECT_EQ(value_or_fail(make({.data_type = kUint64, .uints64 = uints})).int_at(0), 4000000000);
  EXPECT_EQ(value_or_fail(make({.data_type = kUint32, .uints64 = uints})).int_at(0), 4000000000);
}

TEST(TensorData, BigRawDataIsNotCopied) {
  const std::vector<float> data(1000, 2);
  const int64_t dims[] = {10, 100};
  const std::string_view raw(reinterpret_cast<const char*>(data.data()), 4000);
  const Tensor tensor = value_or_fail(make({.dims = dims, .data_type = kFloat, .raw = raw}));
  EXPECT_EQ(static_cast<const void*>(tensor.data()), data.data());
}

TEST(TensorData, RawDataAtAnOddAddressIsCopied) {
  const std::vector<char> bytes(4001, 0);
  const int64_t dims[] = {1000};
  const Tensor tensor = value_or_fail(
      make({.dims = dims, .data_type = kFloat, .raw = std::string_view(bytes.data() + 1, 4000)}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % 4, 0u);
}

TEST(TensorData, BoolsAreZeroOrOne) {
  const int64_t dims[] = {2};
  const Tensor tensor =
      value_or_fail(make({.dims = dims, .data_type = kBool, .raw = std::string_view("\0\x7f", 2)}));
  EXPECT_EQ(tensor.as<uint8_t>()[1], 1);
}

TEST(TensorData, AnEmptyTensorNeedsNoData) {
  const int64_t dims[] = {0, 5};
  EXPECT_EQ(value_or_fail(make({.dims = dims, .data_type = kFloat})).count(), 0);
}

TEST(TensorData, WrongSizesAreRefused) {
  const int64_t dims[] = {2, 3};
  const float floats[] = {1, 2};
  EXPECT_EQ(error_of({.dims = dims, .data_type = kFloat, .raw = "12345678"}),
            "raw_data has 8 bytes, expected 24 for f32[2,3]");
  EXPECT_EQ(error_of({.dims = dims, .data_type = kFloat, .floats = floats}),
            "float_data has 2 elements, expected 6 for [2,3]");
  EXPECT_THAT(error_of({.dims = dims, .data_type = kFloat, .raw = "12", .floats = floats}),
              HasSubstr("in raw_data and in a typed field"));
}

TEST(TensorData, AbsurdDimsAreRefused) {
  const int64_t negative[] = {2, -3};
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  const int64_t hidden[] = {int64_t{1} << 40, int64_t{1} << 40, 0};
  const int64_t many[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(error_of({.dims = negative, .data_type = kFloat}), "dimension -3 is negative");
  EXPECT_THAT(error_of({.dims = huge, .data_type = kInt8}), HasSubstr("passes 2^63 bytes"));
  EXPECT_THAT(error_of({.dims = hidden, .data_type = kInt8}), HasSubstr("passes 2^63 bytes"));
  EXPECT_EQ(error_of({.dims = many, .data_type = kFloat}), "rank 9, expected at most 8");
}

TEST(TensorData, UnsupportedAndUnknownTypesAreNamed) {
  EXPECT_EQ(error_of({.data_type = kInt4}), "element type int4 is not supported");
  EXPECT_EQ(error_of({.data_type = kString}), "element type string is not supported");
  EXPECT_EQ(error_of({.data_type = 0}), "element type 0, expected one of 1 to 28");
  EXPECT_EQ(error_of({.data_type = -1}), "element type -1, expected one of 1 to 28");
}

TEST(TensorData, ElementsOutsideTheTypeAreRefused) {
  const int32_t data[] = {300};
  const uint64_t wide[] = {uint64_t{1} << 32};
  EXPECT_EQ(error_of({.data_type = kUint8, .ints32 = data}),
            "element 0 is 300, which no u8 can be");
  EXPECT_THAT(error_of({.data_type = kUint32, .uints64 = wide}), HasSubstr("which no u32 can be"));
}

}  // namespace
}  // namespace tw::onnx
