// Many kernels compiled at once.
#include "backends/cuda/nvrtc.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/cat.h"

namespace tw::cuda {
namespace {

std::string kernel_of(int value) {
  return cat("extern \"C\" __global__ void tw_kernel(int* to) { *to = ", value, "; }\n");
}

TEST(Nvrtc, CompilesManyAtOnceAndKeepsTheirOrder) {
  if (!nvrtc_version().ok()) GTEST_SKIP() << nvrtc_version().error().message;
  std::vector<std::string> sources;
  for (int i = 0; i < 12; ++i) sources.push_back(kernel_of(i));
  sources[5] = "this is no kernel";
  double last = 0;
  const std::thread::id caller = std::this_thread::get_id();
  const auto compiled = compile_kernels(sources, "sm_90a", [&](double share) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_GT(share, last);
    EXPECT_LE(share, 1);
    last = share;
  });
  EXPECT_GT(last, 0);
  ASSERT_EQ(compiled.size(), sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    ASSERT_EQ(compiled[i].ok(), i != 5) << i;
    if (i == 5) continue;
    EXPECT_EQ(compiled[i].value().cubin, compile_kernel(sources[i], "sm_90a").value().cubin);
  }
  EXPECT_NE(compiled[5].error().message.find("does not compile"), std::string::npos);
}

TEST(Nvrtc, CompilesNothing) { EXPECT_TRUE(compile_kernels({}, "sm_90a", nullptr).empty()); }

}  // namespace
}  // namespace tw::cuda
