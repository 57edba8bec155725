#include "cli/layers.h"

#include "ir/infer.h"
#include "passes/pipeline.h"
#include "runtime/engine.h"

namespace tw::cli {

std::vector<plan::Port> ports_of(const ir::Graph& graph, const std::vector<ir::ValueId>& values) {
  std::vector<plan::Port> ports;
  for (const ir::ValueId id : values)
    ports.push_back({graph.value(id).name, graph.value(id).type.dtype, graph.value(id).type.shape});
  return ports;
}

Result<std::vector<Tensor>> run_as_it_is(ir::Graph graph, const std::vector<Tensor>& inputs,
                                         const api::BuildOptions& options, int threads) {
  api::BuildOptions plain;
  plain.isa = options.isa;
  plain.portable = options.portable;
  for (const passes::Pass& pass : passes::pipeline()) plain.skip_passes.insert(pass.name);
  runtime::EngineOptions engine_options;
  engine_options.threads = threads;
  runtime::Context context(TRY(
      runtime::Engine::make(TRY(api::compile_graph(std::move(graph), "", plain)), engine_options)));
  return context.run(inputs);
}

Result<std::vector<Tensor>> run_layer(const ir::Graph& graph, const ir::Node& node,
                                      const std::vector<const Tensor*>& inputs,
                                      const api::BuildOptions& options) {
  ir::Graph alone;
  alone.name = node.name;
  ir::Node copy = node;
  std::vector<Tensor> fed;
  std::map<ir::ValueId, ir::ValueId> placed;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    const auto [place, is_new] = placed.emplace(node.inputs[i], ir::kNoValue);
    if (is_new) {
      const ir::Value& original = graph.value(node.inputs[i]);
      if (original.constant || original.ints) {
        place->second = alone.add_constant(original.name, *inputs[i]);
      } else {
        place->second = alone.add_value(
            {original.name, {inputs[i]->dtype(), ir::to_shape(inputs[i]->dims())}, {}, {}});
        alone.inputs.push_back(place->second);
        fed.push_back(*inputs[i]);
      }
    }
    copy.inputs[i] = place->second;
  }
  for (ir::ValueId& id : copy.outputs) {
    if (id == ir::kNoValue) continue;
    id = alone.add_value({graph.value(id).name, {}, {}, {}});
    alone.outputs.push_back(id);
  }
  alone.nodes.push_back(copy);
  TRY(ir::infer_graph(alone));
  std::vector<Tensor> present = TRY(run_as_it_is(std::move(alone), fed, options, 1));
  std::vector<Tensor> outputs(node.outputs.size());
  for (size_t i = 0, next = 0; i < outputs.size(); ++i)
    if (node.outputs[i] != ir::kNoValue) outputs[i] = std::move(present[next++]);
  return outputs;
}

Result<Tensor> run_up_to(const ir::Graph& graph, ir::ValueId id, const std::vector<Tensor>& inputs,
                         const api::BuildOptions& options) {
  ir::Graph cut = graph;
  cut.outputs = {id};
  TRY(passes::eliminate_dead(cut));
  std::vector<Tensor> outputs = TRY(run_as_it_is(std::move(cut), inputs, options, 1));
  return std::move(outputs[0]);
}

}  // namespace tw::cli
