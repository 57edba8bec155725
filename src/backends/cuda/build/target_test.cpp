// What a target says of itself, seen without a device.
#include "backends/cuda/build/target.h"

#include <gtest/gtest.h>

#include "backends/cuda/graph/contract.h"

namespace tw::cuda {
namespace {

TEST(Target, PutsItsVersionsIntoTheContract) {
  const auto target = make_target({});
  EXPECT_EQ(target->name(), "sm_90");
  EXPECT_EQ(target->contract(), make_contract());
}

}  // namespace
}  // namespace tw::cuda
