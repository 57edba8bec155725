// fused: several nodes as one task. The body is a closed graph; an anchor (linear, matmul, conv)
// may stand first, the rest is elementwise. The planner lowers it as a whole; decomposed it is its
// body.
#include <map>

#include "ir/evaluate.h"
#include "ir/infer.h"
#include "ir/op_def.h"

namespace tw::ops {
namespace {

Result<void> infer(ir::InferContext& c) {
  const ir::Graph& body = c.attr_graph("body");
  std::vector<ir::Value> inputs;
  for (size_t i = 0; i < c.n_inputs(); ++i) {
    ir::Value value;
    value.type = c.in(i);
    inputs.push_back(std::move(value));
  }
  int n_fresh = 0;
  const std::vector<ir::Value> outputs = TRY(ir::infer_outputs(body, inputs, &n_fresh));
  for (size_t i = 0; i < outputs.size(); ++i) c.out(i, outputs[i].type);
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < c.n_inputs(); ++i) inputs.push_back(c.in(i));
  std::vector<Tensor> outputs = TRY(ir::evaluate_graph(c.attr_graph("body"), inputs));
  for (size_t i = 0; i < outputs.size(); ++i) c.set_out(i, std::move(outputs[i]));
  return {};
}

Result<void> decompose(ir::DecomposeContext& c) {
  const ir::Graph& body = c.attr_graph("body");
  std::map<ir::ValueId, ir::ValueId> outer;
  for (size_t i = 0; i < body.inputs.size(); ++i) outer[body.inputs[i]] = c.in(i);
  for (const ir::Node& node : body.nodes) {
    std::vector<ir::ValueId> inputs;
    for (const ir::ValueId id : node.inputs) {
      if (id != ir::kNoValue && !outer.contains(id))
        outer[id] = c.b().constant(*body.value(id).constant);
      inputs.push_back(id == ir::kNoValue ? id : outer.at(id));
    }
    const std::vector<ir::ValueId> made =
        TRY(c.b().ops(node.op->name, std::move(inputs), node.attrs, node.outputs.size()));
    for (size_t i = 0; i < made.size(); ++i) outer[node.outputs[i]] = made[i];
  }
  for (size_t i = 0; i < body.outputs.size(); ++i) c.set_out(i, outer.at(body.outputs[i]));
  return {};
}

}  // namespace

extern constinit const ir::OpDef fused = {
    .name = "fused",
    .doc = "the body's outputs for these inputs, computed by one task",
    .inputs = {"xs..."},
    .outputs = {"ys..."},
    .attrs = {{"body", {}}},
    .onnx = {},
    .infer = infer,
    .reference = reference,
    .decompose = decompose,
    .cases = {},
};

}  // namespace tw::ops
