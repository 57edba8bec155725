#include "backends/cuda/build/sizes.h"

#include <algorithm>
#include <optional>

namespace tw::cuda {
namespace {

/// A size for the batch and one for every other symbol.
struct Point {
  int64_t batch, other;
};

// Rows of products are then 1, 8, 32, 128, 512, 2048 and 16384, with 1024 from a sample of 32 by
// 32. The bound between 32 and 128 is 64, up to which products have kernels of their own; sequences
// of one and of many in a batch are both among the points.
constexpr Point kBatchAndOthers[] = {{1, 128},   {16, 128}, {1, 32}, {1, 512},
                                     {128, 128}, {1, 8},    {1, 1}};
// A batch, a length, or sides of an image; a sample of 32 is between 16 and 128.
constexpr int64_t kAlone[] = {128, 1, 512, 16, 4, 256};

constexpr int64_t kKernelSizes[] = {1,  2,  3,  4,   7,   8,   12,  16, 17,
                                    32, 48, 64, 100, 128, 256, 384, 512};

/// The symbol that is the first dim of the first input, when there are others beside it.
std::optional<size_t> batch_symbol(const task::Program& program) {
  const task::Parametric& table = program.parametric;
  if (table.symbols.size() < 2 || program.inputs.empty()) return std::nullopt;
  for (const task::Patch& patch : table.patches) {
    if (patch.field != task::Patch::Field::kDim || patch.dim != 0 ||
        patch.slot != program.inputs.front())
      continue;
    const auto name = table.expressions[patch.expression].as_symbol();
    const auto found = std::find(table.symbols.begin(), table.symbols.end(), name.value_or(""));
    if (found != table.symbols.end()) return static_cast<size_t>(found - table.symbols.begin());
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::vector<int64_t>> measured_sizes(const task::Program& program) {
  std::vector<std::vector<int64_t>> all;
  if (!program.is_parametric()) return all;
  const size_t n = program.parametric.symbols.size();
  if (const auto batch = batch_symbol(program)) {
    for (const Point& point : kBatchAndOthers) {
      all.emplace_back(n, point.other);
      all.back()[*batch] = point.batch;
    }
  } else {
    for (const int64_t size : kAlone) all.emplace_back(n, size);
  }
  return all;
}

std::vector<std::vector<int64_t>> kernel_sizes(const task::Program& program) {
  std::vector<std::vector<int64_t>> all = measured_sizes(program);
  if (!program.is_parametric()) return all;
  for (const int64_t size : kKernelSizes) all.emplace_back(program.parametric.symbols.size(), size);
  return all;
}

}  // namespace tw::cuda
