// Local functions are inlined.
#include "frontends/onnx/functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/onnx/test_models.h"
#include "ir/op_def.h"

namespace tw::onnx {
namespace {

using testing::HasSubstr;

ir::Graph value_or_fail(const Result<ir::Graph>& graph) {
  EXPECT_TRUE(graph.ok()) << error_of(graph);
  return graph.ok() ? graph.value() : ir::Graph{};
}

TEST(Functions, CallsAreReplacedAtEveryLevel) {
  const ir::Graph graph = value_or_fail(import_model(function_model()));
  EXPECT_EQ(nodes_text(graph),
            "transpose(x) -> first/t; mul(first/t, w) -> t; transpose(t) -> second/t; "
            "mul(second/t, w) -> y");
  EXPECT_EQ(graph.nodes[0].name, "first/inner/turn");
  EXPECT_EQ(std::get<std::vector<int64_t>>(graph.nodes[0].attrs.at("perm")),
            (std::vector<int64_t>{1, 0}));
}

TEST(Functions, AnAttributeThatTheCallLeavesOutIsAbsent) {
  pb::ModelProto model = function_model();
  model.mutable_functions(1)->mutable_node(0)->clear_attribute();
  const ir::Graph graph = value_or_fail(import_model(model));
  EXPECT_FALSE(graph.nodes[0].attrs.contains("perm"));
}

TEST(Functions, AnAttributeThatTheCallLeavesOutTakesTheDefault) {
  pb::ModelProto model = function_model();
  pb::FunctionProto& inner = *model.mutable_functions(0);
  *inner.add_attribute_proto() = model.functions(1).node(0).attribute(0);
  model.mutable_functions(1)->mutable_node(0)->clear_attribute();
  EXPECT_TRUE(value_or_fail(import_model(model)).nodes[0].attrs.contains("perm"));
}

TEST(Functions, AnOutputThatIsAnInputIsCopied) {
  pb::ModelProto model = function_model();
  model.mutable_functions(0)->clear_node();
  model.mutable_functions(0)->set_output(0, "a");
  EXPECT_THAT(nodes_text(value_or_fail(import_model(model))),
              HasSubstr("identity(x) -> first/t; mul(first/t, w) -> t"));
}

TEST(Functions, SubgraphsInBodiesReadTheCallersNames) {
  pb::ModelProto model = if_model();
  pb::FunctionProto& function = *model.add_functions();
  function.set_name("Choose");
  function.set_domain("local");
  *function.add_opset_import() = model.opset_import(0);
  for (const char* name : {"cond", "x", "s", "w"}) function.add_input(name);
  function.add_output("y");
  *function.add_node() = model.graph().node(0);
  pb::GraphProto& graph = *model.mutable_graph();
  graph.clear_node();
  add_node(graph, {"Choose", {"cond", "s", "x", "w"}, {"y"}, "call", "local"});
  const ir::Graph result = value_or_fail(import_model(model));
  EXPECT_EQ(nodes_text(result), "if(cond, s, x) -> y");
  const auto& branch =
      std::get<std::shared_ptr<const ir::Graph>>(result.nodes[0].attrs.at("then_branch"));
  EXPECT_EQ(nodes_text(*branch), "add(s, w) -> call/sum");
}

TEST(Functions, ARecursiveCallIsRefused) {
  pb::ModelProto model = function_model();
  pb::NodeProto& node = *model.mutable_functions(0)->mutable_node(0);
  node.set_op_type("TurnAndScale");
  node.set_domain("local");
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("function 'TurnAndScale' calls itself"));
}

TEST(Functions, ExpansionWithoutBoundIsRefused) {
  pb::ModelProto model = empty_model();
  import_domain(model, "local", 1);
  constexpr int kLevels = 30;  // 2^30 nodes
  for (int level = 0; level < kLevels; ++level) {
    pb::FunctionProto& function = *model.add_functions();
    function.set_name(cat("F", level));
    function.set_domain("local");
    *function.add_opset_import() = model.opset_import(0);
    function.add_input("a");
    function.add_output("c");
    const std::string callee = level == 0 ? "Relu" : cat("F", level - 1);
    const std::string domain = level == 0 ? "" : "local";
    add_node(function, {callee, {"a"}, {"b"}, "l", domain});
    add_node(function, {callee, {"b"}, {"c"}, "r", domain});
  }
  pb::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x", {1});
  add_node(graph, {cat("F", kLevels - 1), {"x"}, {"y"}, "call", "local"});
  add_output(graph, "y");
  ImportOptions options;
  options.max_nodes = 5000;
  EXPECT_THAT(error_of(import_model(model, options)),
              HasSubstr("expand to more nodes than are allowed"));
}

TEST(Functions, TooManyInputsAreRefused) {
  pb::ModelProto model = function_model();
  model.mutable_graph()->mutable_node(0)->add_input("w");
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("3 inputs and 1 outputs, but the function has 2 and 1"));
}

TEST(Functions, AReferenceOutsideAFunctionIsRefused) {
  pb::ModelProto model = mlp_model();
  add_ref(*model.mutable_graph()->mutable_node(2), "alpha", "beta", pb::AttributeProto::FLOAT);
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("stands in no function"));
}

}  // namespace
}  // namespace tw::onnx
