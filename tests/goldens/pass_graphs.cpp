#include "pass_graphs.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "ir/contexts.h"

namespace tw::goldens {
namespace {

using ir::ValueId;
using Ints = std::vector<int64_t>;

template <class T>
T value_or_die(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::abort();
  }
  return std::move(result).take();
}

/// A graph node by node; what a pass is shown must be legal.
struct Maker {
  ir::Graph graph;
  ir::GraphBuilder builder{graph, graph.nodes, "n"};

  explicit Maker(std::string name) { graph.name = std::move(name); }
  ValueId input(const std::string& name, ir::Shape shape, DType dtype = DType::kF32) {
    ir::Value value;
    value.name = name;
    value.type = {dtype, std::move(shape)};
    graph.inputs.push_back(graph.add_value(std::move(value)));
    return graph.inputs.back();
  }
  ValueId op(std::string_view name, std::vector<ValueId> inputs, ir::Attrs attrs = {}) {
    return value_or_die(builder.op(name, std::move(inputs), std::move(attrs)));
  }
  ValueId scalar(double number) { return builder.scalar(DType::kF32, number); }
  ValueId constant(const Dims& dims, double first, double step) {
    Tensor tensor = value_or_die(Tensor::try_make(DType::kF32, dims));
    for (int64_t i = 0; i < tensor.count(); ++i)
      tensor.set_float(i, first + step * static_cast<double>(i));
    return builder.constant(std::move(tensor));
  }
  ir::Graph ending_in(std::vector<ValueId> outputs) {
    graph.outputs = std::move(outputs);
    return graph;
  }
};

std::shared_ptr<const ir::Graph> branch(std::string_view op) {
  Maker m("branch");
  const ValueId x = m.input("x", {Dim(2)});
  return std::make_shared<const ir::Graph>(m.ending_in({m.op(op, {x})}));
}

ir::Graph known_if() {
  Maker m("known_if");
  const ValueId x = m.input("x", {Dim(2)});
  const ValueId yes = m.builder.scalar(DType::kBool, 1);
  return m.ending_in(
      {m.op("if", {yes, x}, {{"then_branch", branch("relu")}, {"else_branch", branch("neg")}})});
}

ir::Graph constants() {
  Maker m("constants");
  const ValueId x = m.input("x", {Dim::symbol("n"), Dim(2)});
  const ValueId sum = m.op("add", {m.constant({2}, 1, 1), m.constant({2}, 10, 10)});
  return m.ending_in({m.op("mul", {x, sum})});
}

ir::Graph no_ops() {
  Maker m("no_ops");
  const ValueId x = m.input("x", {Dim(2), Dim(3)});
  const ValueId same = m.op("reshape", {m.op("identity", {x}), m.builder.ints({2, 3})});
  return m.ending_in({m.op("relu", {same})});
}

ir::Graph common() {
  Maker m("common");
  const ValueId x = m.input("x", {Dim(3)});
  return m.ending_in({m.op("add", {m.op("exp", {x}), m.op("exp", {x})})});
}

ir::Graph dead() {
  Maker m("dead");
  const ValueId x = m.input("x", {Dim(3)});
  m.op("exp", {m.op("neg", {x})});
  return m.ending_in({m.op("relu", {x})});
}

ir::Graph gelu() {
  Maker m("gelu");
  const ValueId x = m.input("x", {Dim::symbol("n"), Dim(4)});
  const ValueId erf = m.op("erf", {m.op("div", {x, m.scalar(static_cast<float>(std::sqrt(2.0)))})});
  const ValueId sum = m.op("add", {erf, m.scalar(1)});
  return m.ending_in({m.op("mul", {m.op("mul", {x, sum}), m.scalar(0.5)})});
}

ir::Graph hard_swish() {
  Maker m("hard_swish");
  const ValueId x = m.input("x", {Dim::symbol("n"), Dim(4)});
  const ValueId clipped = m.op("clip", {m.op("add", {x, m.scalar(3)}), m.scalar(0), m.scalar(6)});
  return m.ending_in({m.op("div", {m.op("mul", {x, clipped}), m.scalar(6)})});
}

ir::Graph linear() {
  Maker m("linear");
  const ValueId x = m.input("x", {Dim::symbol("n"), Dim(2)});
  const ValueId product = m.op("matmul", {x, m.constant({2, 3}, 1, 1)});
  return m.ending_in({m.op("add", {product, m.constant({3}, 0.5, 0)})});
}

ir::Graph attention() {
  Maker m("attention");
  const ir::Shape heads = {Dim(1), Dim(2), Dim::symbol("n"), Dim(4)};
  const ValueId q = m.input("q", heads), k = m.input("k", heads), v = m.input("v", heads);
  const ValueId turned = m.op("transpose", {k}, {{"perm", Ints{0, 1, 3, 2}}});
  const ValueId scores = m.op("div", {m.op("matmul", {q, turned}), m.scalar(2)});
  return m.ending_in({m.op("matmul", {m.op("softmax", {scores}), v})});
}

ir::Graph projections() {
  Maker m("projections");
  const ValueId x = m.input("x", {Dim(1), Dim::symbol("n"), Dim(4)});
  const auto heads = [&](double first) {
    const ValueId rows = m.op("linear", {x, m.constant({4, 4}, first, 0.1)});
    return m.op("reshape", {rows, m.builder.ints({0, 0, 2, 2})});
  };
  const ValueId q = heads(0), k = heads(1), v = heads(2);
  return m.ending_in({m.op("attention", {q, k, v}, {{"scale", 0.5}})});
}

ir::Graph in_bf16() {
  Maker m("in_bf16");
  m.graph.compute_type = DType::kBF16;
  const ValueId x = m.input("x", {Dim::symbol("n"), Dim(2)});
  const ValueId y = m.op("relu", {m.op("linear", {x, m.constant({2, 2}, 1, 1)})});
  return m.ending_in({m.op("exp", {y})});
}

ir::Graph unlowered() {
  Maker m("unlowered");
  const ValueId x = m.input("x", {Dim(1), Dim(2), Dim(4), Dim(4)});
  return m.ending_in({m.op("conv", {x, m.constant({2, 2, 1, 1}, 1, 1)})});
}

ir::Graph transposed_twice() {
  Maker m("transposed_twice");
  const ValueId x = m.input("x", {Dim(2), Dim(3), Dim(4)});
  const ValueId turned = m.op("transpose", {x}, {{"perm", Ints{2, 0, 1}}});
  return m.ending_in({m.op("transpose", {turned}, {{"perm", Ints{2, 1, 0}}})});
}

ir::Graph transposed_sum() {
  Maker m("transposed_sum");
  const ValueId x = m.input("x", {Dim(2), Dim(3), Dim(4)}),
                y = m.input("y", {Dim(2), Dim(3), Dim(4)});
  const ir::Attrs turn = {{"perm", Ints{0, 2, 1}}};
  const ValueId sum = m.op("add", {m.op("transpose", {x}, turn), m.op("transpose", {y}, turn)});
  return m.ending_in({m.op("relu", {sum})});
}

ir::Graph shape_of_result() {
  Maker m("shape_of_result");
  const ValueId x = m.input("x", {Dim::symbol("n"), Dim(2)});
  const ValueId y = m.op("relu", {m.op("linear", {x, m.constant({2, 2}, 1, 1)})});
  return m.ending_in({m.op("reshape", {y, m.op("shape", {y})})});
}

ir::Graph scaled_linear() {
  Maker m("scaled_linear");
  const ValueId x = m.input("x", {Dim::symbol("n"), Dim(2)});
  const ValueId y = m.op("linear", {x, m.constant({2, 2}, 1, 1), m.constant({2}, 1, 0)});
  const ValueId scaled = m.op("mul", {y, m.constant({2}, 2, 1)});
  return m.ending_in({m.op("add", {scaled, m.constant({2}, 0.5, 0)})});
}

ir::Graph linear_then_relu() {
  Maker m("linear_then_relu");
  const ValueId x = m.input("x", {Dim::symbol("n"), Dim(2)});
  const ValueId residual = m.input("residual", {Dim::symbol("n"), Dim(2)});
  const ValueId y = m.op("linear", {x, m.constant({2, 2}, 1, 1)});
  return m.ending_in({m.op("relu", {m.op("add", {y, residual})})});
}

ir::Graph pointwise_chain() {
  Maker m("pointwise_chain");
  const ValueId x = m.input("x", {Dim::symbol("n"), Dim(2)});
  return m.ending_in({m.op("mul", {m.op("exp", {m.op("neg", {x})}), x})});
}

}  // namespace

std::vector<PassGraph> pass_graphs() {
  using namespace passes;
  return {
      {"inline_known_if", "a branch whose condition is known stands for its If", inline_known_if,
       known_if},
      {"fold_constants", "what is computed from constants is one", fold_constants, constants},
      {"remove_no_ops", "a node that gives its input back goes", remove_no_ops, no_ops},
      {"eliminate_common", "equal nodes are one node", eliminate_common, common},
      {"eliminate_dead", "what no output needs goes", eliminate_dead, dead},
      {"fuse_gelu", "the exporter's six nodes of a gelu are one", fuse_gelu, gelu},
      {"fuse_hard_swish", "the exporter's four nodes of a hard swish are one", fuse_hard_swish,
       hard_swish},
      {"lift_shapes", "the shape of a chain of equal shapes is its first value's", lift_shapes,
       shape_of_result},
      {"fuse_linear", "a product by weights and the bias behind it are one linear", fuse_linear,
       linear},
      {"fuse_attention", "scores, softmax and weighted sum are one attention", fuse_attention,
       attention},
      {"fuse_qkv", "projections of one input are one product, which attention reads as it lies",
       fuse_qkv, projections},
      {"lower_precision", "products and what follows them work in the type that is asked for",
       lower_precision, in_bf16},
      {"decompose_unlowered", "a conv over channels first is one over channels last between moves",
       decompose_unlowered, unlowered},
      {"merge_transposes", "a transpose of a transpose is one transpose", merge_transposes,
       transposed_twice},
      {"sink_transposes", "transposes of all operands become one of the result", sink_transposes,
       transposed_sum},
      {"fold_affine", "factors and sums a channel go into weights and bias", fold_affine,
       scaled_linear},
      {"fuse_epilogue", "what follows a linear runs on its results", fuse_epilogue,
       linear_then_relu},
      {"fuse_elementwise", "elementwise nodes in a row are one task", fuse_elementwise,
       pointwise_chain},
  };
}

}  // namespace tw::goldens
