#include "task/happens_before.h"

#include <algorithm>
#include <numeric>

namespace tw::task {

std::vector<uint32_t> seq_order(const Program& program) {
  std::vector<uint32_t> order(program.records.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return program.records[a].seq < program.records[b].seq; });
  return order;
}

Clocks make_clocks(const Program& program) {
  Clocks clocks(program.records.size(), std::max<size_t>(1, program.queues.size()));
  for (size_t q = 0; q < program.queues.size(); ++q)
    for (uint32_t i = 0; i < program.queues[q].count; ++i)
      clocks.set_position(program.queues[q].first + i, {static_cast<uint32_t>(q), i});
  return clocks;
}

}  // namespace tw::task
