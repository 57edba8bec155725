// What an imported graph looks like: names, types, constants, symbols, order, hooks.
#include "frontends/onnx/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "frontends/onnx/test_models.h"
#include "ir/op_def.h"

namespace tw::onnx {
namespace {

using testing::HasSubstr;

ir::Graph value_or_fail(const Result<ir::Graph>& graph) {
  EXPECT_TRUE(graph.ok()) << error_of(graph);
  return graph.ok() ? graph.value() : ir::Graph{};
}

std::string type_of(const ir::Graph& graph, std::string_view name) {
  return to_string(value_named(graph, name).type);
}

TEST(Import, KeepsNamesAndInfersTypes) {
  const ir::Graph graph = value_or_fail(import_model(mlp_model()));
  EXPECT_EQ(nodes_text(graph), "matmul(x, w) -> xw; add(xw, b) -> sum; relu(sum) -> y");
  EXPECT_EQ(type_of(graph, "y"), "f32[batch,8]");
  EXPECT_EQ(graph.nodes[1].name, "shift");
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "y");
}

TEST(Import, SortsNodesThatStandInTheWrongOrder) {
  pb::ModelProto model = mlp_model();
  model.mutable_graph()->mutable_node()->SwapElements(0, 2);
  EXPECT_EQ(nodes_text(value_or_fail(import_model(model))),
            "matmul(x, w) -> xw; add(xw, b) -> sum; relu(sum) -> y");
}

TEST(Import, InitialisersThatAreInputsTooAreConstants) {
  pb::ModelProto model = mlp_model();
  model.set_ir_version(3);
  add_input(*model.mutable_graph(), "w", {4, 8});
  const ir::Graph graph = value_or_fail(import_model(model));
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_TRUE(value_named(graph, "w").constant.has_value());
}

TEST(Import, SymbolsAreSpellableAndUnique) {
  pb::ModelProto model = empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x:0", {"batch size", "batch_size", "", "?", "u0", "7x"});
  add_node(graph, {"Relu", {"x:0"}, {"y"}});
  add_output(graph, "y");
  EXPECT_EQ(type_of(value_or_fail(import_model(model)), "y"),
            "f32[batch_size,batch_size_2,x_0_dim2,x_0_dim3,u0_,d7x]");
}

TEST(Import, InputSymbolsNameInputAndAxis) {
  const auto symbols = input_symbols(value_or_fail(import_model(mlp_model())));
  ASSERT_EQ(symbols.size(), 1u);
  EXPECT_EQ(symbols[0].symbol, "batch");
  EXPECT_EQ(symbols[0].input, "x");
  EXPECT_EQ(symbols[0].axis, 0u);
}

TEST(Import, SymbolsAreFoundWithoutImporting) {
  pb::ModelProto model = mlp_model();
  model.mutable_graph()->mutable_node(0)->set_op_type("NoSuchOp");
  const std::string path = testing::TempDir() + "symbols.onnx";
  std::ofstream(path, std::ios::binary) << bytes_of(model);
  const auto symbols = find_input_symbols(path);
  ASSERT_TRUE(symbols.ok());
  ASSERT_EQ(symbols.value().size(), 1u);
  EXPECT_EQ(symbols.value()[0].symbol, "batch");
}

TEST(Import, AGivenShapeBindsTheSymbolEverywhere) {
  pb::ModelProto model = mlp_model();
  add_input(*model.mutable_graph(), "mask", {"batch"});
  ImportOptions options;
  options.shapes["x"] = {3, -1};
  const ir::Graph graph = value_or_fail(import_model(model, options));
  EXPECT_EQ(type_of(graph, "mask"), "f32[3]");
  EXPECT_EQ(type_of(graph, "y"), "f32[3,8]");
}

TEST(Import, AGivenShapeServesAnInputWithoutOne) {
  pb::ModelProto model = mlp_model();
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  ImportOptions options;
  options.shapes["x"] = {-1, 4};
  EXPECT_EQ(type_of(value_or_fail(import_model(model, options)), "y"), "f32[x_dim0,8]");
}

TEST(Import, ConstantNodesBecomeConstants) {
  pb::ModelProto model = empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  add_attr(add_node(graph, {"Constant", {}, {"i"}}), "value_int", int64_t{7});
  add_attr(add_node(graph, {"Constant", {}, {"is"}}), "value_ints", std::vector<int64_t>{1, 2});
  add_attr(add_node(graph, {"Constant", {}, {"f"}}), "value_float", 0.5F);
  auto& floats = add_attr(add_node(graph, {"Constant", {}, {"fs"}}), "value_floats", 0.0F);
  floats.set_type(pb::AttributeProto::FLOATS);
  floats.add_floats(1.5F);
  auto& tensor = add_attr(add_node(graph, {"Constant", {}, {"t"}}), "value", 0.0F);
  tensor.set_type(pb::AttributeProto::TENSOR);
  tensor.mutable_t()->set_data_type(pb::TensorProto::UINT8);
  tensor.mutable_t()->add_int32_data(9);
  for (const char* name : {"i", "is", "f", "fs", "t"}) add_output(graph, name);
  const ir::Graph result = value_or_fail(import_model(model));
  EXPECT_TRUE(result.nodes.empty());
  EXPECT_EQ(value_named(result, "i").constant->int_at(0), 7);
  EXPECT_EQ(type_of(result, "is"), "i64[2]");
  EXPECT_EQ(value_named(result, "f").constant->float_at(0), 0.5);
  EXPECT_EQ(value_named(result, "fs").constant->float_at(0), 1.5);
  EXPECT_EQ(type_of(result, "t"), "u8[]");
}

TEST(Import, AbsentOptionalInputsAreNoValue) {
  pb::ModelProto model = empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x", {4});
  add_weight(graph, "high", {}).set_name("high");
  add_node(graph, {"Clip", {"x", "", "high"}, {"y"}});
  add_node(graph, {"Clip", {"y", "", ""}, {"z"}});
  add_output(graph, "z");
  EXPECT_EQ(nodes_text(value_or_fail(import_model(model))), "clip(x, -, high) -> y; clip(y) -> z");
}

TEST(Import, AttributesEqualToTheDefaultAreDropped) {
  pb::ModelProto model = empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x", {4});
  add_attr(add_node(graph, {"LeakyRelu", {"x"}, {"a"}}), "alpha", 0.01F);
  add_attr(add_node(graph, {"LeakyRelu", {"a"}, {"y"}}), "alpha", 0.25F);
  add_output(graph, "y");
  const ir::Graph result = value_or_fail(import_model(model));
  EXPECT_EQ(std::get<double>(*ir::find_attr(result.nodes[1], "alpha")), 0.25);
  EXPECT_EQ(result.nodes[1].attrs.size(), 1u);
}

TEST(Import, HooksOfOlderFormsGiveTheOnnxNames) {
  pb::ModelProto model = empty_model(7);
  pb::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x", {4});
  pb::NodeProto& node = add_node(graph, {"Clip", {"x"}, {"y"}, "bound"});
  add_attr(node, "min", 0.0F);
  add_attr(node, "max", 6.0F);
  add_output(graph, "y");
  const ir::Graph result = value_or_fail(import_model(model));
  ASSERT_EQ(result.nodes.size(), 1u);
  EXPECT_EQ(type_of(result, "y"), "f32[4]");
  EXPECT_TRUE(result.value(result.nodes[0].inputs[1]).constant.has_value());
}

TEST(Import, AnOutputThatIsAnInputGetsACopy) {
  pb::ModelProto model = mlp_model();
  pb::GraphProto& graph = *model.mutable_graph();
  add_output(graph, "x");
  const ir::Graph result = value_or_fail(import_model(model));
  EXPECT_EQ(result.outputs[1], result.inputs[0]);
}

TEST(Import, ANewerOpsetIsReadWithANote) {
  pb::ModelProto model = mlp_model();
  model.mutable_opset_import(0)->set_version(99);
  std::vector<std::string> notes;
  ImportOptions options;
  options.note = [&](std::string_view note) { notes.emplace_back(note); };
  value_or_fail(import_model(model, options));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("opset of ai.onnx is 99, newer than 28"));
}

TEST(Import, DomainAiOnnxIsTheEmptyDomain) {
  pb::ModelProto model = mlp_model();
  model.mutable_opset_import(0)->set_domain("ai.onnx");
  model.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  value_or_fail(import_model(model));
}

TEST(Import, TwiceGivesTheSameGraph) {
  for (const auto& model : {loop_model(), function_model(), if_model()}) {
    const ir::Graph first = value_or_fail(import_model(model));
    const ir::Graph second = value_or_fail(import_model(model));
    EXPECT_EQ(nodes_text(first), nodes_text(second));
  }
}

}  // namespace
}  // namespace tw::onnx
