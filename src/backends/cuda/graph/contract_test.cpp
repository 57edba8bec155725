// contract_test.cpp: the versions in a plan's contract, and what is said where others are here.
#include "backends/cuda/graph/contract.h"

#include <gtest/gtest.h>

#include "backends/cuda/launch.h"
#include "backends/cuda/nvrtc.h"

namespace tw::cuda {
namespace {

TEST(Contract, NamesWhatThePlanIsBuiltWith) {
  const plan::Contract contract = make_contract();
  EXPECT_EQ(plan::contract_value(contract, "compute_target"), "sm_90a");
  EXPECT_EQ(plan::contract_value(contract, "cuda_driver"), "13.0");
  EXPECT_EQ(plan::contract_value(contract, "kernels"), kernels_version());
  const auto nvrtc = nvrtc_version();
  EXPECT_EQ(plan::contract_value(contract, "nvrtc"), nvrtc.ok() ? nvrtc.value() : "");
  EXPECT_EQ(contract, make_contract());
}

TEST(Contract, OfThisProgramNeedsNoNote) {
  const plan::Contract contract = make_contract();
  EXPECT_TRUE(check_kernels(contract, kernels_version()).ok());
  EXPECT_EQ(other_nvrtc_note(contract, plan::contract_value(contract, "nvrtc")), "");
  EXPECT_EQ(other_nvrtc_note({}, "13.1"), "");
}

TEST(Contract, OfOtherKernelsIsRefused) {
  EXPECT_EQ(check_kernels({{"kernels", "11"}}, "12").error().message,
            "the plan's kernels are of version 11, expected 12: build the plan again");
  EXPECT_EQ(check_kernels({}, "12").error().message,
            "the plan's kernels are of version none, expected 12: build the plan again");
}

TEST(Contract, OfAnotherCompilerIsNoted) {
  EXPECT_EQ(other_nvrtc_note({{"nvrtc", "13.0"}}, "13.1"),
            "a kernel that the plan lacks for these sizes was compiled here by NVRTC 13.1, the "
            "plan's own by NVRTC 13.0: results at these sizes may differ from those of the machine "
            "that built it");
}

TEST(Contract, SaysWhichDriverThePlanWants) {
  const auto wanted = [](const std::string& text) {
    const auto driver = wanted_driver({{"cuda_driver", text}});
    return driver.ok() ? driver.value() : -1;
  };
  EXPECT_EQ(wanted("13.2"), 13020);
  EXPECT_EQ(wanted("12.8"), kLeastDriver);  // this program needs that much itself
  EXPECT_EQ(wanted_driver({}).value(), kLeastDriver);
  for (const char* text : {"13", "13.", ".1", "thirteen", "13.0.1", "-1.0", "99999999999.0"})
    EXPECT_EQ(wanted(text), -1) << text;
  EXPECT_EQ(wanted_driver({{"cuda_driver", "new"}}).error().message,
            "the plan's cuda_driver is 'new', expected a version of CUDA such as 13.0");
}

}  // namespace
}  // namespace tw::cuda
