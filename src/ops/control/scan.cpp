// scan: runs its body once for each element of the scan inputs' first dim. Inputs: carried values,
// scan inputs, then captures. Body: (carried.., elements.., captures..) -> (carried.., scan
// outputs..); the scan outputs are stacked. Other axes and reverse directions are declined. The
// planner runs it on the host, between segments.
#include "ir/evaluate.h"
#include "ir/infer.h"
#include "ir/op_def.h"
#include "ops/control/common_body.h"

namespace tw::ops {
namespace {

/// How the node's inputs and outputs divide.
struct Parts {
  size_t n_carried = 0, n_elements = 0, n_captures = 0, n_scans = 0;
};

Result<Parts> parts_of(const ir::NodeView& view) {
  for (const char* name :
       {"scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"})
    for (const int64_t value : view.attr_ints(name))
      if (value != 0)
        return error(Code::kUnsupported, "attribute '", name, "' holds ", value,
                     ", only 0 is supported");
  const auto n_elements = static_cast<size_t>(view.attr_int("num_scan_inputs"));
  const ir::Graph& body = view.attr_graph("body");
  if (n_elements < 1 || n_elements > view.n_inputs())
    return error(Code::kInvalidModel, "attribute 'num_scan_inputs' is ", n_elements,
                 ", expected 1 to ", view.n_inputs());
  const auto n_carried = view.has_attr("n_carried")
                             ? static_cast<size_t>(view.attr_int("n_carried"))
                             : view.n_inputs() - n_elements;
  if (n_carried > view.n_inputs() - n_elements || n_carried > view.n_outputs())
    return error(Code::kInvalidModel, "attribute 'n_carried' is ", n_carried, ", but there are ",
                 view.n_inputs(), " inputs and ", view.n_outputs(), " outputs");
  if (body.inputs.size() != view.n_inputs() || body.outputs.size() != view.n_outputs())
    return error(Code::kInvalidModel, "the body has ", body.inputs.size(), " inputs and ",
                 body.outputs.size(), " outputs, expected ", view.n_inputs(), " and ",
                 view.n_outputs());
  return Parts{n_carried, n_elements, view.n_inputs() - n_elements - n_carried,
               view.n_outputs() - n_carried};
}

Result<std::vector<ir::Value>> body_values(const ir::InferContext& c, const Parts& parts,
                                           const CarriedTypes& carried) {
  std::vector<ir::Value> values = carried.values();
  for (size_t i = parts.n_carried; i < parts.n_carried + parts.n_elements; ++i) {
    if (c.rank(i) < 1)
      return error(Code::kInvalidModel, "scan input ", i, " has rank 0, expected at least 1");
    values.push_back(
        typed_value({c.in(i).dtype, ir::Shape(c.shape(i).begin() + 1, c.shape(i).end())}));
  }
  for (size_t i = parts.n_carried + parts.n_elements; i < c.n_inputs(); ++i)
    values.push_back(input_value(c, i));
  return values;
}

Result<void> infer(ir::InferContext& c) {
  const Parts parts = TRY(parts_of(c));
  CarriedTypes carried(c, 0, parts.n_carried);
  std::vector<ir::Value> outputs;
  for (bool settled = false; !settled;) {  // ends: every round but the last opens a dim
    const std::vector<ir::Value> inputs = TRY(body_values(c, parts, carried));
    outputs = TRY(infer_body(c, c.attr_graph("body"), inputs).in("body"));
    settled = TRY(carried.settle(c, outputs.data()));
  }
  for (size_t i = 0; i < parts.n_carried; ++i) c.out(i, carried.values()[i].type);
  for (size_t i = parts.n_carried; i < outputs.size(); ++i) {
    ir::TensorType type{outputs[i].type.dtype, {c.shape(parts.n_carried).front()}};
    for (const Dim& dim : outputs[i].type.shape) type.shape.push_back(carried.steady(c, dim));
    c.out(i, std::move(type));
  }
  return {};
}

/// Element `i` of the first dim; it shares the tensor's bytes.
Tensor element(const Tensor& tensor, int64_t i) {
  Dims dims;
  for (size_t d = 1; d < tensor.dims().size(); ++d) dims.push_back(tensor.dims()[d]);
  const int64_t bytes = element_count(dims) * size_bytes(tensor.dtype());
  return Tensor::view(tensor.dtype(), dims, tensor.data() + i * bytes,
                      std::make_shared<Tensor>(tensor));
}

Result<void> set_empty_scans(ir::EvalContext& c, const Parts& parts) {
  std::vector<ir::Value> values;
  for (size_t i = 0; i < c.n_inputs(); ++i) {
    ir::Value value = typed_value({c.in(i).dtype(), ir::to_shape(c.in(i).dims())});
    const bool is_element = i >= parts.n_carried && i < parts.n_carried + parts.n_elements;
    if (is_element) value.type.shape.erase(value.type.shape.begin());
    values.push_back(std::move(value));
  }
  int n_symbols = 0;
  const std::vector<ir::Value> outputs =
      TRY(ir::infer_outputs(c.attr_graph("body"), values, &n_symbols));
  for (size_t i = parts.n_carried; i < c.n_outputs(); ++i)
    if (c.has_out(i)) c.set_out(i, TRY(stack_of_none(outputs[i].type)));
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  const Parts parts = TRY(parts_of(c));
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < c.n_inputs(); ++i) inputs.push_back(c.in(i));
  const int64_t n_trips = c.in(parts.n_carried).dims()[0];
  for (size_t i = 0; i < parts.n_elements; ++i)
    if (c.in(parts.n_carried + i).dims()[0] != n_trips)
      return error(Code::kInvalidModel, "scan input ", i, " has ",
                   c.in(parts.n_carried + i).dims()[0], " elements, the first has ", n_trips);
  std::vector<std::vector<Tensor>> scans(parts.n_scans);
  for (int64_t trip = 0; trip < n_trips; ++trip) {
    for (size_t i = 0; i < parts.n_elements; ++i)
      inputs[parts.n_carried + i] = element(c.in(parts.n_carried + i), trip);
    std::vector<Tensor> outputs =
        TRY(ir::evaluate_graph(c.attr_graph("body"), inputs).in(cat("iteration ", trip)));
    for (size_t i = 0; i < parts.n_carried; ++i) inputs[i] = std::move(outputs[i]);
    for (size_t i = 0; i < parts.n_scans; ++i)
      scans[i].push_back(std::move(outputs[parts.n_carried + i]));
  }
  for (size_t i = 0; i < parts.n_carried; ++i)
    if (c.has_out(i)) c.set_out(i, inputs[i]);
  if (n_trips == 0) return set_empty_scans(c, parts);
  for (size_t i = 0; i < parts.n_scans; ++i)
    if (c.has_out(parts.n_carried + i)) c.set_out(parts.n_carried + i, TRY(stack(scans[i])));
  return {};
}

}  // namespace

extern constinit const ir::OpDef scan = {
    .name = "scan",
    .doc =
        "runs body (carried.., elements.., captures..) -> (carried.., scan outputs..) along the "
        "scan inputs' first dim",
    .inputs = {"values..."},
    .outputs = {"ys..."},
    .attrs = {{"n_carried", {}},
              {"num_scan_inputs", {}},
              {"body", {}},
              {"scan_input_axes", {}},
              {"scan_input_directions", {}},
              {"scan_output_axes", {}},
              {"scan_output_directions", {}}},
    .onnx = {{"Scan", 9}},
    .infer = infer,
    .reference = reference,
    .cases = {},
};

}  // namespace tw::ops
