// Device memory that there is not enough of.
#include "backends/cuda/graph/memory.h"

#include <gtest/gtest.h>

#include "device_case.h"

namespace tw::gpu {
namespace {

TEST(DeviceMemory, ThatIsNotThereIsRefusedWithWantedAndFound) {
  if (!has_device()) GTEST_SKIP() << "no GPU";
  cuda::DeviceBuffer buffer;
  const Result<void> reserved = buffer.reserve(int64_t{1} << 44, "the arena");
  ASSERT_FALSE(reserved.ok());
  EXPECT_EQ(reserved.error().code, Code::kOutOfMemory);
  EXPECT_TRUE(reserved.error().message.starts_with(
      "the arena wants 17592186044416 bytes of device memory, found "))
      << reserved.error().message;
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_TRUE(buffer.reserve(1 << 20, "the arena").ok());
}

}  // namespace
}  // namespace tw::gpu
