// index_fault.h: what kernels leave behind about an index that is out of range, shared by host and
// device. graph/index_faults.h is the host's side.
#pragma once

namespace tw::cuda {

/// The first fault of a session's runs: the one with the lowest key, whichever thread comes first.
/// `key` and `index` change together.
struct alignas(16) IndexFault {
  unsigned long long key;  // kNoFault, or a task, a place in its index operand, and a dim
  long long index;         // as it was found
  unsigned* seen;          // of the host: not 0 once there is a fault
};
inline constexpr unsigned long long kNoFault = ~0ull;

/// Bits of a key, from the highest: the task's seq (24), the element of the index operand (37, may
/// be negative; an operand of more would not fit the device), the number of the tuple (3).
inline constexpr int kFaultDimBits = 3, kFaultTaskShift = 40;
inline constexpr long long kFaultPlaceBias = 1ll << (kFaultTaskShift - kFaultDimBits - 1);

/// In the parameters of a kernel that takes indices as data.
struct IndexCheck {
  IndexFault* fault;  // null: nobody wants to know
  unsigned task;      // seq
};

}  // namespace tw::cuda
