// window.h: a box of a slot as memory: pointer, dims, strides in bytes; and loops over several
// windows at once.
#pragma once

#include <array>
#include <span>

#include "backends/cpu/core.h"
#include "task/access.h"

namespace tw::cpu {

struct Window {
  std::byte* data = nullptr;
  DType dtype = DType::kF32;
  Dims dims;
  Dims strides;  // in bytes

  int64_t count() const { return element_count(dims); }
  int64_t element_bytes() const { return size_bytes(dtype); }
  /// Dim `d` counted from the back: 0 is the last.
  int64_t back_dim(size_t d) const { return dims[dims.size() - 1 - d]; }
  int64_t back_stride(size_t d) const { return strides[strides.size() - 1 - d]; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

Window window(const TaskContext& context, task::SlotId id, const task::Box& box);
Window whole_window(const TaskContext& context, task::SlotId id);
/// The operand repeated to the box of a result: aligned at the last dim, dims of 1 get stride 0.
Window broadcast_window(const TaskContext& context, task::SlotId id, const task::Box& box);
/// Dims [first, last) of a window, at the same address.
Window dims_of(const Window& w, size_t first, size_t last);
/// The operand repeated to all of `dims`.
Window broadcast_to(const Window& operand, const Dims& dims);

/// Nested loops over windows of equal dims. Dims of 1 are dropped and neighbours that all windows
/// cross in one stride are merged.
struct LoopNest {
  static constexpr size_t kMaxWindows = 13;
  size_t n_windows = 0;
  size_t rank = 0;  // at least 1
  std::array<int64_t, kMaxRank> dims{};
  std::array<std::array<int64_t, kMaxRank>, kMaxWindows> strides{};  // in bytes, by window
  std::array<std::byte*, kMaxWindows> data{};

  LoopNest() = default;
  LoopNest(const Dims& dims, std::span<const Window> windows, bool merge = true);
  bool empty() const;

  /// visit(pointers) for each combination of the dims before the last `n_inner`; `pointers` holds
  /// one address a window.
  template <class Visit>
  void for_each(size_t n_inner, Visit&& visit) const {
    if (empty()) return;
    const size_t n_outer = rank > n_inner ? rank - n_inner : 0;
    std::array<std::byte*, kMaxWindows> at = data;
    std::array<int64_t, kMaxRank> index{};
    while (true) {
      visit(at);
      size_t d = n_outer;
      for (; d > 0; --d) {
        if (step(at, index, d - 1)) break;
      }
      if (d == 0) return;
    }
  }

 private:
  /// Advances dim d; false when it wrapped to 0.
  bool step(std::array<std::byte*, kMaxWindows>& at, std::array<int64_t, kMaxRank>& index,
            size_t d) const {
    const bool wraps = ++index[d] == dims[d];
    const int64_t by = wraps ? 1 - dims[d] : 1;
    for (size_t w = 0; w < n_windows; ++w) at[w] += by * strides[w][d];
    if (wraps) index[d] = 0;
    return !wraps;
  }
};

}  // namespace tw::cpu
