#include "cli/tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/op_def.h"

namespace tw::cli {
namespace {

constexpr double kLargestSize = 1e4;

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return std::numeric_limits<double>::epsilon();
    case DType::kF32:
      return std::numeric_limits<float>::epsilon();
    case DType::kF16:
      return 0x1p-10;
    case DType::kBF16:
      return 0x1p-7;
    case DType::kF8E4M3:
      return 0x1p-3;
    case DType::kF8E5M2:
      return 0x1p-2;
    default:
      return 0;
  }
}

double size_of(const Tensor& tensor) {
  double size = 0;
  if (!is_float(tensor.dtype())) return size;
  for (int64_t i = 0; i < tensor.count(); ++i) {
    const double value = std::fabs(tensor.float_at(i));
    if (value <= kLargestSize) size = std::max(size, value);
  }
  return size;
}

int64_t last_dim(const Tensor* tensor) {
  return tensor == nullptr || tensor->rank() == 0 ? 1 : std::max<int64_t>(tensor->dims().back(), 1);
}

/// Of one op by name; bodies of fused nodes are summed over by the caller.
int64_t sum_of_op(std::string_view op, const std::vector<const Tensor*>& inputs,
                  const std::vector<Tensor>& outputs) {
  const auto count = [](const Tensor* tensor) {
    return tensor == nullptr ? 1 : std::max<int64_t>(tensor->count(), 1);
  };
  const Tensor* first = inputs.empty() ? nullptr : inputs[0];
  const Tensor* second = inputs.size() < 2 ? nullptr : inputs[1];
  if (op == "conv" && second != nullptr)
    return count(second) / std::max<int64_t>(second->dims()[0], 1);
  if (op == "conv_transpose" && second != nullptr)
    return count(second) / std::max<int64_t>(second->dims()[1], 1);
  if (op == "lstm" || op == "gru" || op == "rnn")
    return (last_dim(second) + last_dim(inputs.size() < 3 ? nullptr : inputs[2])) *
           (first == nullptr ? 1 : std::max<int64_t>(first->dims()[0], 1));
  if (op == "attention")
    return std::max(last_dim(first), second == nullptr || second->rank() < 2
                                         ? 1
                                         : second->dims()[second->dims().size() - 2]);
  if (op == "matmul" || op == "gemm" || op == "linear")
    return second == nullptr ? last_dim(first) : std::max(last_dim(first), second->dims()[0]);
  const int64_t kept = outputs.empty() ? 1 : std::max<int64_t>(outputs[0].count(), 1);
  return std::max(last_dim(first), count(first) / kept);
}

}  // namespace

int64_t longest_sum(const ir::Node& node, const std::vector<const Tensor*>& inputs,
                    const std::vector<Tensor>& outputs) {
  int64_t longest = sum_of_op(node.op->name, inputs, outputs);
  for (const auto& [name, attr] : node.attrs)
    if (const auto* body = std::get_if<std::shared_ptr<const ir::Graph>>(&attr))
      for (const ir::Node& inner : (*body)->nodes)
        longest = std::max(longest, sum_of_op(inner.op->name, inputs, outputs));
  return longest;
}

Difference compare(const Tensor& found, const Tensor& expected, double terms,
                   const std::vector<const Tensor*>& sources) {
  Difference difference;
  if (found.dtype() != expected.dtype() || !(found.dims() == expected.dims())) {
    difference.wrong = cat("is ", found.type_text(), ", expected ", expected.type_text());
    return difference;
  }
  if (!is_float(found.dtype())) {
    for (int64_t i = 0; i < found.count() && difference.wrong.empty(); ++i)
      if (found.int_at(i) != expected.int_at(i))
        difference.wrong =
            cat("element ", i, " is ", found.int_at(i), ", expected ", expected.int_at(i));
    return difference;
  }
  for (int64_t i = 0; i < found.count(); ++i) {
    const double a = found.float_at(i), b = expected.float_at(i);
    if (std::isfinite(a) && std::isfinite(b)) {
      if (std::fabs(a - b) <= difference.largest) continue;
      difference.largest = std::fabs(a - b);
      difference.element = i;
    } else if (!(a == b || (std::isnan(a) && std::isnan(b)))) {
      difference.wrong = cat("element ", i, " is ", a, ", expected ", b);
      return difference;
    }
  }
  double size = std::max(1.0, size_of(expected));
  for (const Tensor* source : sources)
    if (source != nullptr) size = std::max(size, size_of(*source));
  const double n = std::max<double>(2, static_cast<double>(found.count()));
  difference.bound =
      epsilon(found.dtype()) * std::sqrt(std::max(1.0, terms)) * std::sqrt(2 * std::log(n)) * size;
  return difference;
}

std::string to_string(const Difference& difference) {
  if (!difference.wrong.empty()) return difference.wrong;
  return cat("differs by ", static_cast<float>(difference.largest), " at element ",
             difference.element, ", expected at most ", static_cast<float>(difference.bound));
}

}  // namespace tw::cli
