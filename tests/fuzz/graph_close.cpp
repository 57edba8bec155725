#include "graph_close.h"

#include <algorithm>
#include <cmath>

#include "ir/evaluate.h"

namespace tw::fuzz {
namespace {

constexpr int kSamples = 4;
constexpr double kSafety = 4;       // samples seldom meet the worst case
constexpr double kWild = 1.0 / 64;  // of the largest element, beside what the type rounds

/// Distance between 1 and the next number of the type.
double epsilon(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return std::ldexp(1, -52);
    case DType::kF32:
      return std::ldexp(1, -23);
    case DType::kF16:
      return std::ldexp(1, -10);
    case DType::kBF16:
      return std::ldexp(1, -7);
    default:
      return std::ldexp(1, -2);
  }
}

/// Sums are kept in f32 at least, so that short types round at the end only.
double roundings(DType dtype, int64_t n_terms) {
  const double sums = 8 + std::sqrt(static_cast<double>(n_terms));
  return 2 * epsilon(dtype) + sums * std::min(epsilon(dtype), epsilon(DType::kF32));
}

/// The magnitude that errors are counted on: the largest element, 1 at least, since what is small
/// may be the difference of two that are not.
double largest(const Tensor& tensor) {
  double most = 1;
  for (int64_t i = 0; i < tensor.count(); ++i)
    if (std::isfinite(tensor.float_at(i))) most = std::max(most, std::fabs(tensor.float_at(i)));
  return most;
}

int64_t most_elements(const std::vector<const Tensor*>& operands) {
  int64_t most = 1;
  for (const Tensor* tensor : operands)
    if (tensor != nullptr) most = std::max(most, tensor->count());
  return most;
}

/// The same numbers, each moved by up to `amount`, in memory of their own.
Result<Tensor> moved(const Tensor& tensor, double amount, Random& random) {
  Tensor copy = TRY(Tensor::try_make(tensor.dtype(), tensor.dims()));
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int64_t i = 0; i < copy.count(); ++i)
    copy.set_float(i, tensor.float_at(i) + amount * unit(random));
  return copy;
}

Result<std::vector<Tensor>> evaluate_moved(const ir::Graph& graph,
                                           const std::vector<Tensor>& inputs, Random& random) {
  std::vector<Tensor> values(graph.values.size());
  for (size_t i = 0; i < values.size(); ++i)
    if (graph.values[i].constant) values[i] = *graph.values[i].constant;
  for (size_t i = 0; i < inputs.size(); ++i)
    values[static_cast<size_t>(graph.inputs[i])] = inputs[i];
  for (const ir::Node& node : graph.nodes) {
    std::vector<const Tensor*> operands;
    for (const ir::ValueId id : node.inputs)
      operands.push_back(id == ir::kNoValue ? nullptr : &values[static_cast<size_t>(id)]);
    std::vector<Tensor> outputs = TRY(ir::evaluate_node(node, operands));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (node.outputs[i] == ir::kNoValue) continue;
      Tensor& value = values[static_cast<size_t>(node.outputs[i])];
      value = outputs[i];
      if (!is_float(value.dtype())) continue;
      const double amount = largest(value) * roundings(value.dtype(), most_elements(operands));
      value = TRY(moved(value, amount, random));
    }
  }
  std::vector<Tensor> outputs;
  for (const ir::ValueId id : graph.outputs) outputs.push_back(values[static_cast<size_t>(id)]);
  return outputs;
}

void widen(Expected& expected, const Tensor& sample) {
  const Tensor& value = expected.value;
  if (value.type_text() != sample.type_text()) {
    expected.is_wild = true;
    return;
  }
  for (int64_t i = 0; i < value.count(); ++i) {
    if (!is_float(value.dtype())) {
      expected.is_wild = expected.is_wild || value.int_at(i) != sample.int_at(i);
      continue;
    }
    const double a = value.float_at(i), b = sample.float_at(i);
    if (std::isfinite(a) && std::isfinite(b))
      expected.tolerance = std::max(expected.tolerance, kSafety * std::fabs(a - b));
    else if (std::isnan(a) != std::isnan(b) || (!std::isnan(a) && a != b))
      expected.is_uncertain[static_cast<size_t>(i)] = true;
  }
}

bool is_close(const Tensor& found, const Expected& expected, int64_t i) {
  if (!is_float(found.dtype())) return found.int_at(i) == expected.value.int_at(i);
  const double a = found.float_at(i), b = expected.value.float_at(i);
  if (expected.is_uncertain[static_cast<size_t>(i)]) return true;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= expected.tolerance;
}

}  // namespace

Result<std::vector<Expected>> evaluate_with_tolerance(const ir::Graph& graph,
                                                      const std::vector<Tensor>& inputs) {
  std::vector<Expected> all;
  for (Tensor& value : TRY(ir::evaluate_graph(graph, inputs))) {
    Expected expected;
    expected.is_uncertain.resize(static_cast<size_t>(value.count()), false);
    if (is_float(value.dtype())) expected.tolerance = largest(value) * 4 * epsilon(value.dtype());
    expected.value = std::move(value);
    all.push_back(std::move(expected));
  }
  Random random(1);
  for (int sample = 0; sample < kSamples; ++sample) {
    const auto outputs = evaluate_moved(graph, inputs, random);
    for (size_t i = 0; i < all.size(); ++i)
      if (outputs.ok())
        widen(all[i], outputs.value()[i]);
      else
        all[i].is_wild = true;
  }
  for (Expected& expected : all)
    if (is_float(expected.value.dtype()))
      expected.is_wild = expected.is_wild ||
                         expected.tolerance > largest(expected.value) *
                                                  (kWild + 32 * epsilon(expected.value.dtype()));
  return all;
}

std::string difference(const std::vector<Tensor>& found, const std::vector<Expected>& expected) {
  if (found.size() != expected.size())
    return cat(found.size(), " outputs, expected ", expected.size());
  for (size_t o = 0; o < found.size(); ++o) {
    if (expected[o].is_wild) continue;
    if (found[o].type_text() != expected[o].value.type_text())
      return cat("output ", o, " is ", found[o].type_text(), ", expected ",
                 expected[o].value.type_text());
    for (int64_t i = 0; i < found[o].count(); ++i)
      if (!is_close(found[o], expected[o], i))
        return cat("output ", o, ", element ", i, " is ", found[o].float_at(i), ", expected ",
                   expected[o].value.float_at(i), " within ", expected[o].tolerance);
  }
  return "";
}

}  // namespace tw::fuzz
