#include "backends/cpu/lanes.h"
#include "backends/cpu/tasks/tasks.h"
#include "backends/cpu/window.h"

namespace tw::cpu {
namespace {

/// Whether the element at `at` differs from 0 (NaN does, -0 does not).
bool is_set(DType dtype, const std::byte* at) {
  return with_element(dtype, [&]<class Element>(Element) {
    const auto bits = *reinterpret_cast<const typename Element::Bits*>(at);
    return Element::get(bits) != typename Element::Value{0};
  });
}

}  // namespace

Result<void> run(const task::NonZeroTask& task, const TaskContext& context, int64_t, int64_t) {
  const Window x = whole_window(context, task.x.id), y = whole_window(context, task.y.id);
  const int64_t bound = y.dims[0];
  int64_t found = 0;
  Dims at = x.dims;
  for (int64_t& c : at) c = 0;
  const auto put_row = [&](int64_t row, bool is_zero) {
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t value = is_zero ? 0 : at[d];
      store_lane(*context.kernels, y.dtype, &value, 1,
                 y.data + row * y.strides[0] + static_cast<int64_t>(d) * y.strides[1], 0);
    }
  };
  const LoopNest nest(x.dims, {&x, 1}, false);
  nest.for_each(0, [&](const auto& element) {
    if (is_set(x.dtype, element[0])) {
      if (found < bound) put_row(found, false);
      ++found;
    }
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < x.dims[d]) break;
      at[d] = 0;
    }
  });
  if (found > bound) {
    return error(Code::kInvalidArgument, "nonzero: found ", found,
                 " elements that are not 0, expected at most ", bound);
  }
  // The rows behind the last are defined too: equal inputs give equal bytes.
  for (int64_t row = found; row < bound; ++row) put_row(row, true);
  const Window count = whole_window(context, task.count.id);
  store_lane(*context.kernels, count.dtype, &found, 1, count.data, 0);
  return {};
}

}  // namespace tw::cpu
