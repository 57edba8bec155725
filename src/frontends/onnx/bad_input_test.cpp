// Files that are no models, and models that contradict themselves: a sentence each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "frontends/onnx/sniff.h"
#include "frontends/onnx/test_models.h"

namespace tw::onnx {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::string text_error(std::string_view bytes) { return error_of(import_text(bytes)); }

TEST(BadFile, AnEmptyFile) {
  EXPECT_EQ(text_error(""), "'m.onnx': the file is empty, expected an ONNX model");
}

TEST(BadFile, AMissingFile) {
  const auto graph = import_onnx("no/such/model.onnx");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.error().code, Code::kNotFound);
  EXPECT_THAT(graph.error().message, HasSubstr("'no/such/model.onnx': cannot open: No such file"));
}

TEST(BadFile, ADirectory) {
  EXPECT_THAT(error_of(import_onnx(testing::TempDir())),
              HasSubstr("is a directory, expected a file"));
}

TEST(BadFile, OtherFormatsAreRecognised) {
  EXPECT_THAT(text_error("GGUF\3\0\0\0"), HasSubstr("it looks like a GGUF file"));
  EXPECT_THAT(text_error("PK\3\4rest"), HasSubstr("a zip archive"));
  EXPECT_THAT(text_error(std::string_view("\x0a\0\0\0\0\0\0\0{\"a\":1234}", 18)),
              HasSubstr("a safetensors file"));
  EXPECT_THAT(text_error("once upon a time\n"), HasSubstr("a text file"));
  EXPECT_THAT(text_error("{\"model\": 1}"), HasSubstr("a JSON file"));
  EXPECT_THAT(text_error("version https://git-lfs.github.com/spec/v1\n"),
              HasSubstr("a Git LFS pointer"));
  EXPECT_THAT(text_error(std::string(64, '\0')), HasSubstr("zero bytes"));
  EXPECT_THAT(text_error("\xff\xfe\xfd"), HasSubstr("a damaged one: its 3 bytes"));
}

TEST(BadFile, EveryTruncationIsAnErrorOrAWholeModel) {
  const std::string whole = bytes_of(if_model());
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto graph = import_text(whole.substr(0, size));
    EXPECT_FALSE(graph.ok() && size < whole.size()) << size;
  }
}

TEST(BadFile, MoreThanTwoGigabytes) {
  const std::string path = fs::path(testing::TempDir()) / "huge.onnx";
  std::ofstream(path) << "x";
  ASSERT_EQ(::truncate(path.c_str(), int64_t{1} << 31), 0);
  EXPECT_THAT(error_of(import_onnx(path)),
              HasSubstr("has 2147483648 bytes, expected at most 2147483647"));
  ImportOptions options;
  options.max_file_bytes = INT64_MAX;
  EXPECT_THAT(error_of(import_onnx(path, options)), HasSubstr("export it with external data"));
  fs::remove(path);
}

TEST(BadModel, OpsetsOutsideTheRange) {
  pb::ModelProto model = mlp_model();
  model.mutable_opset_import(0)->set_version(6);
  EXPECT_EQ(error_of(import_model(model)), "'m.onnx': opset of ai.onnx is 6, expected 7 to 28");
  model.mutable_opset_import(0)->set_version(-1);
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("opset of ai.onnx is -1"));
  model.clear_opset_import();
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("no opset_import"));
  import_domain(model, "other", 1);
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("no opset of ai.onnx is imported"));
}

TEST(BadModel, AnOldIrVersion) {
  pb::ModelProto model = mlp_model();
  model.set_ir_version(2);
  EXPECT_EQ(error_of(import_model(model)), "'m.onnx': ir_version is 2, expected 3 to 14");
}

TEST(BadModel, AllUnsupportedOperatorsAreListed) {
  pb::ModelProto model = mlp_model();
  import_domain(model, "com.vendor", 1);
  pb::GraphProto& graph = *model.mutable_graph();
  add_node(graph, {"NoSuchOp", {"y"}, {"p"}, "odd"});
  add_node(graph, {"NoSuchOp", {"p"}, {"q"}});
  add_node(graph, {"Add", {"q", "q"}, {"r"}, "theirs", "com.vendor"});
  EXPECT_EQ(
      error_of(import_model(model)),
      "'m.onnx': 2 of the model's operators are not supported: "
      "NoSuchOp (ai.onnx 17, 2 nodes, first 'odd'), Add (com.vendor 1, 1 node, first 'theirs')");
}

TEST(BadModel, UnknownAttributes) {
  pb::ModelProto model = mlp_model();
  add_attr(*model.mutable_graph()->mutable_node(1), "axis", int64_t{1});
  EXPECT_EQ(
      error_of(import_model(model)),
      "'m.onnx': node 'shift' (Add, ai.onnx 17): attribute 'axis' is not supported by op add");
}

TEST(BadModel, AttributesOfTheWrongType) {
  pb::ModelProto model = empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x", {4});
  add_attr(add_node(graph, {"LeakyRelu", {"x"}, {"y"}}), "alpha", int64_t{1});
  add_output(graph, "y");
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("attribute 'alpha' is an integer, expected another type"));
}

TEST(BadModel, AttributesThatAreDoubledOrTypeless) {
  pb::ModelProto model = mlp_model();
  pb::NodeProto& node = *model.mutable_graph()->mutable_node(2);
  add_attr(node, "a", int64_t{1});
  add_attr(node, "a", int64_t{1});
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("attribute 'a' is given twice"));
  node.mutable_attribute()->RemoveLast();
  node.mutable_attribute(0)->clear_type();
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("attribute 'a': its type is not given"));
}

TEST(BadModel, UnknownNames) {
  pb::ModelProto model = mlp_model();
  model.mutable_graph()->mutable_node(1)->set_input(1, "nobody");
  EXPECT_EQ(error_of(import_model(model)),
            "'m.onnx': node 'shift' (Add, ai.onnx 17): nothing defines its input 'nobody'");
  model = mlp_model();
  model.mutable_graph()->mutable_output(0)->set_name("nobody");
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("graph output 'nobody': nothing defines it"));
  model = if_model();
  model.mutable_graph()
      ->mutable_node(0)
      ->mutable_attribute(0)
      ->mutable_g()
      ->mutable_node(0)
      ->set_input(0, "nobody");
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("nothing defines its input 'nobody'"));
}

TEST(BadModel, NamesDefinedTwice) {
  pb::ModelProto model = mlp_model();
  model.mutable_graph()->mutable_node(1)->set_output(0, "xw");
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("node 'shift' (Add, ai.onnx 17): output 'xw' is defined twice"));
  model = mlp_model();
  model.mutable_graph()->mutable_initializer(1)->set_name("w");
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("initialiser 'w' is there twice"));
  model = mlp_model();
  add_input(*model.mutable_graph(), "x", {1});
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("graph input 'x' is defined twice"));
  model = mlp_model();
  add_output(*model.mutable_graph(), "y");
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("graph output 'y' is there twice"));
}

TEST(BadModel, ACycleIsNamed) {
  pb::ModelProto model = mlp_model();
  model.mutable_graph()->mutable_node(0)->set_input(0, "y");
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("the nodes form a cycle: 'project' -> 'shift' -> 'activate' -> 'project'"));
}

TEST(BadModel, WrongNumbersOfInputs) {
  pb::ModelProto model = mlp_model();
  model.mutable_graph()->mutable_node(1)->mutable_input()->RemoveLast();
  EXPECT_THAT(error_of(import_model(model)), AllOf(HasSubstr("'shift'"), HasSubstr("is missing")));
  model = mlp_model();
  model.mutable_graph()->mutable_node(2)->add_input("x");
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("expected at most 1"));
}

TEST(BadModel, GapsInListsOfInputs) {
  pb::ModelProto model = mlp_model();
  pb::NodeProto& node = *model.mutable_graph()->mutable_node(1);
  node.set_op_type("Concat");
  node.set_input(0, "");
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("'shift' (Concat, ai.onnx 17): input 0 is missing"));
  node.set_input(0, "xw");
  node.set_input(1, "");
  node.add_input("xw");
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("input 1 is missing, but its list has no gaps"));
}

TEST(BadModel, NoOutputs) {
  pb::ModelProto model = mlp_model();
  model.mutable_graph()->clear_output();
  EXPECT_EQ(error_of(import_model(model)), "'m.onnx': the graph has no outputs");
}

TEST(BadModel, InputsWithoutATensorTypeOrShape) {
  pb::ModelProto model = mlp_model();
  pb::ValueInfoProto& input = *model.mutable_graph()->mutable_input(0);
  input.mutable_type()->mutable_tensor_type()->clear_shape();
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("graph input 'x': the model gives it no shape"));
  input.mutable_type()->mutable_sequence_type();
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("its type is no tensor"));
  input.clear_type();
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("its type is no tensor (none is given)"));
}

TEST(BadModel, AbsurdInputDims) {
  pb::ModelProto model = mlp_model();
  pb::GraphProto& graph = *model.mutable_graph();
  graph.clear_input();
  add_input(graph, "x", {-2, 4});
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("graph input 'x': dimension -2 is negative"));
  graph.clear_input();
  add_input(graph, "x", {INT64_MAX, 4});
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("dimension 0 is 9223372036854775807"));
  graph.clear_input();
  add_input(graph, "x", {1, 1, 1, 1, 1, 1, 1, 1, 4});
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("rank 9, expected at most 8"));
}

TEST(BadModel, GivenShapesThatDoNotFit) {
  const auto error_with = [](const std::string& name, std::vector<int64_t> dims) {
    ImportOptions options;
    options.shapes[name] = std::move(dims);
    return error_of(import_model(mlp_model(), options));
  };
  EXPECT_THAT(error_with("z", {1}),
              HasSubstr("a shape is given for 'z', which is no input; the inputs are 'x'"));
  EXPECT_THAT(error_with("x", {1}),
              HasSubstr("the given shape has 1 dimensions, the model's [batch,4] has 2"));
  EXPECT_THAT(error_with("x", {1, 5}), HasSubstr("dimension 1 is given as 5, but the model has 4"));
  EXPECT_THAT(error_with("x", {-7, 4}), HasSubstr("the given dimension -7"));
}

TEST(BadModel, SparseInitialisers) {
  pb::ModelProto model = mlp_model();
  model.mutable_graph()->add_sparse_initializer()->mutable_values()->set_name("s");
  EXPECT_THAT(error_of(import_model(model)),
              HasSubstr("initialiser 's' is sparse, expected dense"));
}

TEST(BadModel, InitialisersAreNamedInErrors) {
  pb::ModelProto model = mlp_model();
  model.mutable_graph()->mutable_initializer(0)->set_data_type(pb::TensorProto::INT4);
  EXPECT_EQ(error_of(import_model(model)),
            "'m.onnx': initialiser 'w': element type int4 is not supported");
}

TEST(BadModel, SubgraphsNestedTooDeep) {
  pb::ModelProto model = if_model();
  for (int level = 0; level < 60; ++level) {
    const pb::NodeProto inner = model.graph().node(0);
    pb::GraphProto& branch =
        *model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
    *branch.mutable_node(0) = inner;
    branch.mutable_output(0)->set_name("y");
  }
  EXPECT_FALSE(import_model(model).ok());
}

TEST(BadModel, ControlCharactersInNamesAreEscaped) {
  pb::ModelProto model = mlp_model();
  model.mutable_graph()->mutable_node(1)->set_input(1, "a\nb");
  EXPECT_THAT(error_of(import_model(model)), HasSubstr("'a\\x0ab'"));
}

TEST(BadModel, MoreNodesThanAllowed) {
  ImportOptions options;
  options.max_nodes = 2;
  EXPECT_THAT(error_of(import_model(mlp_model(), options)),
              HasSubstr("more nodes than are allowed"));
}

}  // namespace
}  // namespace tw::onnx
