// scratch.h: memory that a task needs while it runs. One a worker; it grows to the largest need and
// is used again by every later task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tw::cpu {

class Scratch {
 public:
  /// Room for n elements, 64-byte aligned, not initialised, valid until the enclosing ScratchScope
  /// ends.
  template <class T>
  T* take(int64_t n) {
    return reinterpret_cast<T*>(take_bytes(n * static_cast<int64_t>(sizeof(T))));
  }
  std::byte* take_bytes(int64_t bytes);

 private:
  friend class ScratchScope;
  struct Free {
    void operator()(std::byte* block) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> bytes;
    int64_t size = 0;
  };
  std::vector<Block> blocks_;  // each at least twice the one before
  size_t block_ = 0;           // the one in use
  int64_t used_ = 0;           // of it
};

/// Gives back at its end what was taken since its beginning.
class ScratchScope {
 public:
  explicit ScratchScope(Scratch& scratch)
      : scratch_(scratch), block_(scratch.block_), used_(scratch.used_) {}
  ~ScratchScope() {
    scratch_.block_ = block_;
    scratch_.used_ = used_;
  }
  ScratchScope(const ScratchScope&) = delete;
  ScratchScope& operator=(const ScratchScope&) = delete;

 private:
  Scratch& scratch_;
  const size_t block_;
  const int64_t used_;
};

}  // namespace tw::cpu
