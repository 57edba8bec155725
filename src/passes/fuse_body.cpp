#include "passes/fuse_body.h"

#include <algorithm>
#include <map>
#include <set>

#include "ir/infer.h"

namespace tw::passes {
namespace {

/// An anchor takes its operands from outside, also those of one element.
bool travels_inside(const ir::Graph& graph, const ir::Node& user, ir::ValueId id) {
  return is_pointwise(user) && scalar_constant(graph, id).has_value();
}

/// The group as a closed graph; `inputs` are its inputs in the outer graph.
Result<ir::Graph> make_body(const ir::Graph& graph, const Group& group,
                            const std::vector<ir::ValueId>& inputs) {
  ir::Graph body;
  body.name = "body";
  std::map<ir::ValueId, ir::ValueId> inside;
  const auto import_value = [&](ir::ValueId id) {
    ir::Value value = graph.value(id);
    inside[id] = body.add_value(std::move(value));
    return inside[id];
  };
  for (const ir::ValueId id : inputs) body.inputs.push_back(import_value(id));
  for (const size_t n : group) {
    ir::Node node = graph.nodes[n];
    for (ir::ValueId& id : node.inputs)
      if (id != ir::kNoValue) id = inside.contains(id) ? inside[id] : import_value(id);
    for (ir::ValueId& id : node.outputs) id = import_value(id);
    body.nodes.push_back(std::move(node));
  }
  body.outputs = {body.nodes.back().outputs[0]};
  for (const ir::ValueId id : body.inputs)
    body.value(id).constant.reset();  // what comes from outside stays outside
  return body;
}

}  // namespace

std::vector<ir::ValueId> outside_inputs(const ir::Graph& graph, const Group& group) {
  std::set<ir::ValueId> made;
  std::vector<ir::ValueId> inputs;
  for (const size_t n : group) {
    for (const ir::ValueId id : graph.nodes[n].inputs)
      if (id != ir::kNoValue && !made.contains(id) && !travels_inside(graph, graph.nodes[n], id) &&
          std::find(inputs.begin(), inputs.end(), id) == inputs.end())
        inputs.push_back(id);
    made.insert(graph.nodes[n].outputs.begin(), graph.nodes[n].outputs.end());
  }
  return inputs;
}

Result<int> replace_groups(ir::Graph& graph, const std::vector<Group>& groups) {
  std::map<size_t, const Group*> at_last;
  std::set<size_t> inner;
  for (const Group& group : groups) {
    at_last[group.back()] = &group;
    inner.insert(group.begin(), group.end() - 1);
  }
  std::vector<ir::Node> nodes;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (inner.contains(n)) continue;
    const auto found = at_last.find(n);
    if (found == at_last.end()) {
      nodes.push_back(graph.nodes[n]);
      continue;
    }
    const std::vector<ir::ValueId> inputs = outside_inputs(graph, *found->second);
    ir::Node fused;
    fused.op = ir::find_op("fused");
    fused.name = graph.nodes[n].name;
    fused.inputs = inputs;
    fused.outputs = graph.nodes[n].outputs;
    fused.attrs["body"] =
        std::make_shared<const ir::Graph>(TRY(make_body(graph, *found->second, inputs)));
    nodes.push_back(std::move(fused));
  }
  graph.nodes = std::move(nodes);
  for (const ir::Node& node : graph.nodes)
    if (node.op->name == "fused") TRY(ir::infer_node(graph, node));
  return static_cast<int>(groups.size());
}

}  // namespace tw::passes
