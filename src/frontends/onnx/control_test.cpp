// Bodies of If, Loop and Scan as closed graphs.
#include "frontends/onnx/control.h"

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

const ir::Graph& body(const ir::Graph& graph, const char* name) {
  CHECK(!graph.nodes.empty(), "the model has a control-flow node");
  return *std::get<std::shared_ptr<const ir::Graph>>(graph.nodes[0].attrs.at(name));
}

std::string inputs_text(const ir::Graph& graph) {
  std::vector<std::string> texts;
  for (const ir::ValueId id : graph.inputs)
    texts.push_back(cat(graph.value(id).name, " ", graph.value(id).type));
  return join(texts, ", ");
}

TEST(If, BranchesTakeTheSameCaptures) {
  const ir::Graph graph = value_or_fail(import_model(if_model()));
  EXPECT_EQ(nodes_text(graph), "if(cond, x, s) -> y");
  EXPECT_EQ(inputs_text(body(graph, "then_branch")), "x f32[n], s f32[n]");
  EXPECT_EQ(inputs_text(body(graph, "else_branch")), "x f32[n], s f32[n]");
}

TEST(If, CapturedConstantsAreCopiedIntoTheBody) {
  const ir::Graph graph = value_or_fail(import_model(if_model()));
  const ir::Value& copy = value_named(body(graph, "then_branch"), "w");
  ASSERT_TRUE(copy.constant.has_value());
  EXPECT_EQ(copy.constant->float_at(0), 1);
}

TEST(If, ABranchMayReturnAnOuterValue) {
  pb::ModelProto model = if_model();
  pb::NodeProto& node = *model.mutable_graph()->mutable_node(0);
  node.mutable_attribute(0)->mutable_g()->clear_node();
  node.mutable_attribute(0)->mutable_g()->mutable_output(0)->set_name("s");
  const ir::Graph graph = value_or_fail(import_model(model));
  const ir::Graph& branch = body(graph, "then_branch");
  EXPECT_EQ(branch.value(branch.outputs[0]).name, "s");
}

TEST(If, BodiesWithinBodiesCaptureThroughAllLevels) {
  pb::ModelProto model = if_model();
  pb::GraphProto inner = if_model().graph();
  pb::GraphProto& branch =
      *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  branch.mutable_node()->Clear();
  *branch.add_node() = inner.node(0);
  branch.mutable_output(0)->set_name("y");
  branch.mutable_node(0)->set_output(0, "y");
  model.mutable_graph()->mutable_node(0)->set_output(0, "z");
  model.mutable_graph()->mutable_output(0)->set_name("z");
  const ir::Graph graph = value_or_fail(import_model(model));
  EXPECT_EQ(nodes_text(graph), "if(cond, cond, x, s) -> z");
  EXPECT_EQ(nodes_text(body(graph, "then_branch")), "if(cond, x, s) -> y");
}

TEST(If, ABranchWithInputsIsRefused) {
  pb::ModelProto model = if_model();
  model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->add_input()->set_name(
      "extra");
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("node 'choose' (If, ai.onnx 17): 1 inputs of then_branch, expected 0"));
}

TEST(If, AMissingBranchIsRefused) {
  pb::ModelProto model = if_model();
  model.mutable_graph()->mutable_node(0)->mutable_attribute()->RemoveLast();
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("no subgraph 'else_branch'"));
}

TEST(Loop, GrowingDimsBecomeSymbolsOthersStay) {
  const ir::Graph graph = value_or_fail(import_model(loop_model()));
  EXPECT_EQ(nodes_text(graph), "loop(trips, -, rows, total, k) -> grown, sum, sums");
  EXPECT_EQ(inputs_text(body(graph, "body")),
            "i i64[], go bool[], rows_in f32[u0,3], total_in f32[3], k f32[1,3]");
  EXPECT_EQ(std::get<int64_t>(graph.nodes[0].attrs.at("n_carried")), 2);
}

TEST(Loop, OutputsNobodyWantsKeepTheirPlaces) {
  pb::ModelProto model = loop_model();
  pb::GraphProto& graph = *model.mutable_graph();
  graph.mutable_node(0)->mutable_output()->RemoveLast();
  graph.mutable_output()->RemoveLast();
  EXPECT_EQ(nodes_text(value_or_fail(import_model(model))),
            "loop(trips, -, rows, total, k) -> grown, sum, -");
}

TEST(Loop, ACarriedValueThatChangesItsTypeIsRefused) {
  pb::ModelProto model = loop_model();
  pb::GraphProto& body = *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  body.mutable_output(1)->set_name("go_on");
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("carried value 0 goes in as f32[1,3] and comes out as bool[]"));
}

TEST(Loop, AWrongNumberOfBodyInputsIsRefused) {
  pb::ModelProto model = loop_model();
  model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g()->add_input()->set_name(
      "more");
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("5 inputs of the body, expected 4"));
}

TEST(Scan, BodiesSeeOneSlice) {
  const ir::Graph graph = value_or_fail(import_model(scan_model()));
  EXPECT_EQ(nodes_text(graph), "scan(start, x) -> last, all");
  EXPECT_EQ(inputs_text(body(graph, "body")), "state f32[4], row f32[4]");
  EXPECT_EQ(to_string(value_named(graph, "all").type), "f32[n,4]");
}

TEST(Scan, WithoutNumScanInputsIsRefused) {
  pb::ModelProto model = scan_model();
  model.mutable_graph()->mutable_node(0)->mutable_attribute()->DeleteSubrange(0, 1);
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("attribute 'num_scan_inputs' is missing"));
}

}  // namespace
}  // namespace tw::onnx
