#include "base/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/tensor.h"

namespace tw {
namespace {

using testing::ContainsRegex;

TEST(Memory, WhatIsAvailableIsSomeOfWhatThereIs) {
  const auto available = available_memory_bytes();
  ASSERT_TRUE(available.has_value());
  EXPECT_GT(*available, 0);
  EXPECT_LE(*available, int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE));
}

TEST(Memory, MoreThanIsAvailableIsRefusedWithWantedAndFound) {
  const auto memory = try_alloc(int64_t{1} << 60);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.error().code, Code::kOutOfMemory);
  EXPECT_THAT(memory.error().message,
              ContainsRegex("^want 1152921504606846976 bytes of memory, found [0-9]+$"));
}

TEST(Memory, ComesAlignedAndZeroed) {
  for (const int64_t bytes : {0, 1, 64, 1000}) {
    const auto memory = try_alloc(bytes);
    ASSERT_TRUE(memory.ok()) << memory.error().message;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.value().get()) % 64, 0U);
    EXPECT_TRUE(std::all_of(memory.value().get(), memory.value().get() + bytes,
                            [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(Memory, ATensorTooLargeIsNamed) {
  const auto tensor = Tensor::try_make(DType::kF32, {1 << 20, 1 << 20});
  ASSERT_FALSE(tensor.ok());
  EXPECT_THAT(tensor.error().message,
              ContainsRegex(
                  "^f32\\[1048576,1048576\\]: want 4398046511104 bytes of memory, found [0-9]+$"));
}

}  // namespace
}  // namespace tw
