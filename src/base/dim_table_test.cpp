#include "base/dim_table.h"

#include <gtest/gtest.h>

namespace tw {
namespace {

const Dim kB = Dim::symbol("B");
const Dim kS = Dim::symbol("S");

TEST(DimTable, EachExpressionHasTheValueThatItHasAlone) {
  const Dim half = floor_div(kS - Dim(7), Dim(2));
  const std::vector<Dim> dims{Dim(5),
                              kB,
                              half,
                              half * kB + mod(kS, Dim(5)),
                              floor_div(half, Dim(3)) * half,
                              min(max(half, kB), Dim(9)),
                              select(kB - Dim(1), half, kS)};
  const DimTable table(dims, {"B", "S"});
  for (int64_t b = 0; b < 5; ++b)
    for (int64_t s = 0; s < 20; ++s) {
      const auto values = table.evaluate({b, s});
      ASSERT_TRUE(values.ok());
      for (size_t i = 0; i < dims.size(); ++i)
        EXPECT_EQ(values.value()[i], dims[i]
                                         .evaluate([&](std::string_view name) {
                                           return std::optional(name == "B" ? b : s);
                                         })
                                         .value());
    }
}

TEST(DimTable, AFailureIsTheExpressionsOwn) {
  const DimTable division({kB, floor_div(kB, kS)}, {"B", "S"});
  EXPECT_TRUE(division.evaluate({4, 2}).ok());
  EXPECT_EQ(division.evaluate({4, 0}).error().message, "division by zero in floor_div(B, S)");
  const DimTable product({kB * kB * kB}, {"B"});
  EXPECT_EQ(product.evaluate({int64_t{1} << 40}).error().message,
            "the expression B*B*B passes 2^63");
  const DimTable unknown({kS}, {"B"});
  EXPECT_EQ(unknown.evaluate({1}).error().message, "no value for symbol 'S'");
}

TEST(DimTable, AnEmptyTableHasNoValues) {
  EXPECT_EQ(DimTable().size(), 0U);
  EXPECT_TRUE(DimTable().evaluate({}).value().empty());
}

}  // namespace
}  // namespace tw
