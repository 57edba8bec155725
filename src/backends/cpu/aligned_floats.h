// aligned_floats.h: an array of f32 that begins on a cache line, as packed weights want to.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace tw::cpu {

class AlignedFloats {
 public:
  AlignedFloats() = default;
  /// Not initialised.
  explicit AlignedFloats(int64_t size)
      : data_(static_cast<float*>(
            ::operator new(static_cast<size_t>(size + 1) * sizeof(float), kAlignment))) {}
  bool empty() const { return data_ == nullptr; }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(float* data) const { ::operator delete(data, kAlignment); }
  };
  std::unique_ptr<float, Free> data_;
};

}  // namespace tw::cpu
