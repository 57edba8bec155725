// What a plan for sm_90 says of machines that are not what it was made for.
#include "backends/cuda/graph/machine.h"

#include <gtest/gtest.h>

namespace tw::cuda {
namespace {

Machine h200() {
  Machine machine;
  machine.driver = 13000;
  machine.n_devices = 1;
  machine.major = 9;
  machine.name = "NVIDIA H200";
  return machine;
}

std::string refusal(const Machine& machine) {
  const Result<void> checked = check_machine(machine, "sm_90", 13000);
  return checked.ok() ? "" : checked.error().message;
}

TEST(Machine, ThatThePlanWasMadeForIsTaken) {
  EXPECT_EQ(refusal(h200()), "");
  Machine newer = h200();
  newer.driver = 13020;
  EXPECT_EQ(refusal(newer), "");
}

TEST(Machine, WithoutAGpuSaysWhatWasWantedAndWhyThereIsNone) {
  Machine none;
  none.reason = "no CUDA-capable device is detected";
  EXPECT_EQ(refusal(none),
            "the plan wants a GPU of 'sm_90', found none: no CUDA-capable device is detected");
}

TEST(Machine, OfAnotherKindIsRefusedByName) {
  Machine other = h200();
  other.major = 8;
  other.minor = 6;
  other.name = "NVIDIA A10";
  EXPECT_EQ(refusal(other), "the plan wants a GPU of 'sm_90', found 'sm_86' (NVIDIA A10)");
}

TEST(Machine, WithAnOldDriverSaysBothVersions) {
  Machine old = h200();
  old.driver = 12080;
  EXPECT_EQ(refusal(old), "the plan wants a driver for CUDA 13.0, found one for CUDA 12.8");
}

}  // namespace
}  // namespace tw::cuda
