#include "base/dim.h"

#include <gtest/gtest.h>

#include <limits>

namespace tw {
namespace {

const Dim kB = Dim::symbol("B");
const Dim kS = Dim::symbol("S");

Result<int64_t> at(const Dim& dim, int64_t b, int64_t s) {
  return dim.evaluate([&](std::string_view name) { return std::optional(name == "B" ? b : s); });
}

TEST(Dim, EqualAlgebraComparesEqual) {
  EXPECT_EQ(floor_div(kB * kS * Dim(384), Dim(384)), kS * kB);
  EXPECT_EQ(floor_div(kB * kS * Dim(384), kS * Dim(12)), kB * Dim(32));
  EXPECT_EQ((kB + Dim(1)) * (kB - Dim(1)), kB * kB - Dim(1));
  EXPECT_EQ(kS - kS, Dim(0));
}

TEST(Dim, FunctionsFoldWhereTheAnswerIsKnown) {
  EXPECT_EQ(min(kS, kS + Dim(3)), kS);
  EXPECT_EQ(max(kS, kS + Dim(3)), kS + Dim(3));
  EXPECT_EQ(mod(kS * Dim(8), Dim(4)), Dim(0));
  EXPECT_EQ(select(Dim(1), kS, kB), kS);
  EXPECT_EQ(floor_div(Dim(-7), Dim(2)), Dim(-4));
}

TEST(Dim, TextReadsBackAsTheSameExpression) {
  const Dim dims[] = {Dim(0),
                      Dim(-5),
                      kB,
                      kB * kS * Dim(2) + Dim(1),
                      floor_div(kS - Dim(7), Dim(2)) + Dim(1),
                      select(kB - Dim(1), kB, kS),
                      max(min(kB, Dim(512)), kS)};
  for (const Dim& dim : dims) {
    const auto parsed = parse_dim(to_string(dim));
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(parsed.value(), dim) << to_string(dim);
  }
}

TEST(Dim, EvaluationAgreesWithTheArithmetic) {
  const Dim dim = floor_div(kS - Dim(7), Dim(2)) * kB + mod(kS, Dim(5));
  for (int64_t b = 0; b < 5; ++b)
    for (int64_t s = 0; s < 20; ++s)
      EXPECT_EQ(at(dim, b, s).value(), floor_div(s - 7, 2) * b + s % 5);
}

TEST(Dim, DivisionByZeroAndOverflowAreErrors) {
  EXPECT_FALSE(at(floor_div(kB, kS), 4, 0).ok());
  EXPECT_FALSE(at(kB * kB * kB, int64_t{1} << 40, 1).ok());
}

TEST(Dim, TheSmallestNumberIsOrdinary) {
  const Dim least(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(to_string(least), "-9223372036854775808");
  EXPECT_EQ(to_string(kB + least), "-9223372036854775808 + B");
  EXPECT_EQ(floor_div(least, Dim(-1)), least);
  EXPECT_EQ(mod(least, Dim(-1)), Dim(0));
}

TEST(Dim, MalformedTextIsRefusedWithItsPlace) {
  for (const char* text : {"", "2 *", "f(1)", "min(1)", "(1", "1 2", "99999999999999999999"}) {
    const auto parsed = parse_dim(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().message.find("expected"), std::string::npos);
  }
}

}  // namespace
}  // namespace tw
