// index_fault.cuh: says that an index is out of range. Nothing here runs, and no memory is touched,
// while indices are good.
#pragma once

#include "index_fault.h"

namespace tw::cuda {

/// Keeps the fault with the lowest key. The index goes with it, so 128 bits are exchanged at once.
TW_DEVICE void keep_first(IndexFault* fault, uint64_t key, int64_t index) {
  const volatile IndexFault* known = fault;
  uint64_t known_key = known->key, known_index = static_cast<uint64_t>(known->index);
  // Two reads may give halves of two faults: the exchange then fails and tells the whole.
  while (key < known_key) {
    uint64_t found_key, found_index;
    asm volatile(
        "{\n"
        "  .reg .b128 known, mine, found;\n"
        "  mov.b128 known, {%3, %4};\n"
        "  mov.b128 mine, {%5, %6};\n"
        "  atom.relaxed.gpu.global.cas.b128 found, [%2], known, mine;\n"
        "  mov.b128 {%0, %1}, found;\n"
        "}"
        : "=l"(found_key), "=l"(found_index)
        : "l"(__cvta_generic_to_global(fault)), "l"(known_key), "l"(known_index), "l"(key),
          "l"(index)
        : "memory");
    if (found_key == known_key && found_index == known_index) {
      *static_cast<volatile unsigned*>(known->seen) = 1;
      __threadfence_system();  // the host looks when the stream is done
      return;
    }
    known_key = found_key;
    known_index = found_index;
  }
}

/// `index`, element `at` of the index operand and number `d` of its tuple, is out of range.
TW_DEVICE void report_index(const IndexCheck& check, int64_t at, int d, int64_t index) {
  if (check.fault == nullptr) return;
  const uint64_t place = static_cast<uint64_t>(at + kFaultPlaceBias) << kFaultDimBits;
  keep_first(
      check.fault,
      static_cast<uint64_t>(check.task) << kFaultTaskShift | place | static_cast<unsigned>(d),
      index);
}

TW_DEVICE bool is_in_range(int64_t i, int64_t extent) {
  return static_cast<uint64_t>(i < 0 ? i + extent : i) < static_cast<uint64_t>(extent);
}

/// The tuple at element `at` of `index` has a number that is out of range: says which. Params:
/// `depth`, `tuple_stride`, `extents` and `check`.
template <class Index, class Params>
TW_DEVICE void report_tuple(const Params& p, const Index* index, int64_t at) {
#pragma unroll 1
  for (int d = 0; d < p.depth; ++d, at += p.tuple_stride) {
    const int64_t i = static_cast<int64_t>(index[at]);
    if (!is_in_range(i, p.extents[d])) return report_index(p.check, at, d, i);
  }
}

}  // namespace tw::cuda
