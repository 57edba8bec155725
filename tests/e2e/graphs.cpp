#include "graphs.h"

#include "backends/cpu/build/target.h"
#include "compiler/compile.h"

namespace tw::e2e {

ir::ValueId GraphMaker::input(const std::string& name, DType dtype, ir::Shape shape) {
  ir::Value value;
  value.name = name;
  value.type = {dtype, std::move(shape)};
  graph.inputs.push_back(graph.add_value(std::move(value)));
  return graph.inputs.back();
}

std::vector<ir::ValueId> GraphMaker::ops(std::string_view name, std::vector<ir::ValueId> inputs,
                                         ir::Attrs attrs, size_t n_outputs) {
  return value_or_fail(builder_.ops(name, std::move(inputs), std::move(attrs), n_outputs));
}

ir::ValueId GraphMaker::op(std::string_view name, std::vector<ir::ValueId> inputs,
                           ir::Attrs attrs) {
  return ops(name, std::move(inputs), std::move(attrs), 1).front();
}

std::shared_ptr<const runtime::Engine> engine_for(const ir::Graph& graph) {
  plan::Plan plan =
      value_or_fail(compiler::compile(graph, *cpu::make_target(cpu::best_isa(), false), {}));
  return value_or_fail(runtime::Engine::make(std::move(plan), {}));
}

Tensor floats(const Dims& dims, const std::vector<double>& values) {
  Tensor tensor = value_or_fail(Tensor::try_make(DType::kF32, dims));
  for (size_t i = 0; i < values.size(); ++i) tensor.set_float(static_cast<int64_t>(i), values[i]);
  return tensor;
}

}  // namespace tw::e2e
