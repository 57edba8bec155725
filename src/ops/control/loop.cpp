// loop: runs its body until the trip count is reached or the body's condition fails. Inputs:
// max_trip?, cond?, the carried values, then captures. Body: (iteration, cond, carried..,
// captures..) -> (cond, carried.., scan outputs..); the scan outputs of all iterations are stacked.
// The planner runs it on the host, between segments.
#include <limits>

#include "ir/evaluate.h"
#include "ir/infer.h"
#include "ir/op_def.h"
#include "ops/control/common_body.h"

namespace tw::ops {
namespace {

constexpr size_t kFirstCarried = 2;

/// How the node's inputs and outputs divide.
struct Parts {
  size_t n_carried = 0, n_captures = 0, n_scans = 0;
};

Result<Parts> parts_of(const ir::NodeView& view) {
  const size_t n_values = view.n_inputs() < kFirstCarried ? 0 : view.n_inputs() - kFirstCarried;
  const auto n_carried =
      view.has_attr("n_carried") ? static_cast<size_t>(view.attr_int("n_carried")) : n_values;
  const ir::Graph& body = view.attr_graph("body");
  if (n_carried > n_values)
    return error(Code::kInvalidModel, "attribute 'n_carried' is ", n_carried, ", but there are ",
                 n_values, " values");
  if (body.inputs.size() != n_values + 2 || body.outputs.size() < n_carried + 1 ||
      body.outputs.size() != view.n_outputs() + 1)
    return error(Code::kInvalidModel, "the body has ", body.inputs.size(), " inputs and ",
                 body.outputs.size(), " outputs, expected ", n_values + 2, " and ",
                 view.n_outputs() + 1);
  return Parts{n_carried, n_values - n_carried, view.n_outputs() - n_carried};
}

/// Inputs of the body as inference sees them: it only runs while the condition holds.
std::vector<ir::Value> body_values(const ir::InferContext& c, const Parts& parts,
                                   const CarriedTypes& carried) {
  std::vector<ir::Value> values{typed_value({DType::kI64, {}}),
                                concrete_value(scalar_tensor(DType::kBool, 1))};
  values.insert(values.end(), carried.values().begin(), carried.values().end());
  for (size_t i = 0; i < parts.n_captures; ++i)
    values.push_back(input_value(c, kFirstCarried + parts.n_carried + i));
  return values;
}

/// The number of iterations, where it is known; `next_cond` is the condition that the body gives.
std::optional<Dim> trip_count(const ir::InferContext& c, const ir::Value& next_cond) {
  const auto first = c.constant_ints(1);
  if (first && first->size() == 1 && first->front() == 0) return Dim(0);
  const bool starts = !c.has(1) || (first && first->size() == 1);
  const bool goes_on =
      next_cond.ints && next_cond.ints->size() == 1 && next_cond.ints->front() == Dim(1);
  const auto* limit = c.ints(0);
  if (!starts || !goes_on || limit == nullptr || limit->size() != 1) return std::nullopt;
  return limit->front().is_constant() ? max(limit->front(), Dim(0)) : limit->front();
}

Result<void> infer(ir::InferContext& c) {
  const Parts parts = TRY(parts_of(c));
  CarriedTypes carried(c, kFirstCarried, parts.n_carried);
  std::vector<ir::Value> outputs;
  for (bool settled = false; !settled;) {  // ends: every round but the last opens a dim
    outputs = TRY(infer_body(c, c.attr_graph("body"), body_values(c, parts, carried)).in("body"));
    settled = TRY(carried.settle(c, outputs.data() + 1));
  }
  for (size_t i = 0; i < parts.n_carried; ++i) c.out(i, carried.values()[i].type);
  if (parts.n_scans == 0) return {};
  const std::optional<Dim> known_trips = trip_count(c, outputs.front());
  const Dim trips = known_trips ? *known_trips : c.fresh_symbol();
  for (size_t i = parts.n_carried; i < parts.n_carried + parts.n_scans; ++i) {
    ir::TensorType type{outputs[i + 1].type.dtype, {trips}};
    for (const Dim& dim : outputs[i + 1].type.shape) type.shape.push_back(carried.steady(c, dim));
    c.out(i, std::move(type));
  }
  return {};
}

/// Scan outputs of a loop that never ran: their types are all that is left to tell.
Result<void> set_empty_scans(ir::EvalContext& c, const Parts& parts,
                             const std::vector<Tensor>& inputs) {
  std::vector<ir::Value> values;
  for (const Tensor& input : inputs) values.push_back(concrete_value(input));
  int n_symbols = 0;
  const std::vector<ir::Value> outputs =
      TRY(ir::infer_outputs(c.attr_graph("body"), values, &n_symbols));
  for (size_t i = parts.n_carried; i < c.n_outputs(); ++i)
    if (c.has_out(i)) c.set_out(i, TRY(stack_of_none(outputs[i + 1].type)));
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Parts parts = TRY(parts_of(c));
  std::vector<Tensor> inputs{scalar_tensor(DType::kI64, 0), scalar_tensor(DType::kBool, 1)};
  for (size_t i = kFirstCarried; i < c.n_inputs(); ++i) inputs.push_back(c.in(i));
  const int64_t limit = c.has(0) ? c.in(0).int_at(0) : std::numeric_limits<int64_t>::max();
  bool goes_on = !c.has(1) || c.in(1).int_at(0) != 0;
  std::vector<std::vector<Tensor>> scans(parts.n_scans);
  for (int64_t trip = 0; trip < limit && goes_on; ++trip) {
    inputs[0] = scalar_tensor(DType::kI64, trip);
    std::vector<Tensor> outputs =
        TRY(ir::evaluate_graph(c.attr_graph("body"), inputs).in(cat("iteration ", trip)));
    goes_on = outputs.front().int_at(0) != 0;
    for (size_t i = 0; i < parts.n_carried; ++i)
      inputs[kFirstCarried + i] = std::move(outputs[1 + i]);
    for (size_t i = 0; i < parts.n_scans; ++i)
      scans[i].push_back(std::move(outputs[1 + parts.n_carried + i]));
  }
  for (size_t i = 0; i < parts.n_carried; ++i)
    if (c.has_out(i)) c.set_out(i, inputs[kFirstCarried + i]);
  if (parts.n_scans != 0 && scans.front().empty()) return set_empty_scans(c, parts, inputs);
  for (size_t i = 0; i < parts.n_scans; ++i)
    if (c.has_out(parts.n_carried + i)) c.set_out(parts.n_carried + i, TRY(stack(scans[i])));
  return {};
}

}  // namespace

extern constinit const ir::OpDef loop = {
    .name = "loop",
    .doc =
        "repeats body (iteration, cond, carried.., captures..) -> (cond, carried.., scan "
        "outputs..) while cond holds",
    .inputs = {"max_trip?", "cond?", "values..."},
    .outputs = {"ys..."},
    .attrs = {{"n_carried", {}}, {"body", {}}},
    .onnx = {{"Loop", 1}},
    .infer = infer,
    .reference = reference,
    .cases = {},
};

}  // namespace tw::ops
