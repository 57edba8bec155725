#include "backends/cpu/scratch.h"

#include <algorithm>
#include <new>

namespace tw::cpu {
namespace {
constexpr std::align_val_t kAlignment{64};
constexpr int64_t kFirstBlockBytes = 64 << 10;
}  // namespace

void Scratch::Free::operator()(std::byte* block) const { ::operator delete(block, kAlignment); }

std::byte* Scratch::take_bytes(int64_t bytes) {
  bytes = (std::max<int64_t>(bytes, 1) + 63) / 64 * 64;
  while (block_ < blocks_.size() && blocks_[block_].size - used_ < bytes) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const int64_t least = blocks_.empty() ? kFirstBlockBytes : 2 * blocks_.back().size;
    const int64_t size = std::max(bytes, least);
    auto* memory = static_cast<std::byte*>(::operator new(static_cast<size_t>(size), kAlignment));
    blocks_.push_back({std::unique_ptr<std::byte, Free>(memory), size});
  }
  std::byte* taken = blocks_[block_].bytes.get() + used_;
  used_ += bytes;
  return taken;
}

}  // namespace tw::cpu
