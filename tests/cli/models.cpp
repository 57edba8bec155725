#include "models.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "cli/npy.h"
#include "frontends/onnx/test_models.h"

namespace tw::cli_test {
namespace {

namespace pb = ::onnx;

std::string save(const TempFolder& folder, const std::string& name, const pb::ModelProto& model) {
  const std::string path = folder.file(name);
  write_all(path, onnx::bytes_of(model));
  return path;
}

std::string save_npy(const TempFolder& folder, const std::string& name, const Tensor& tensor) {
  const auto bytes = cli::format_npy(tensor);
  const std::string path = folder.file(name);
  write_all(path, {reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()});
  return path;
}

}  // namespace

std::string write_mlp(const TempFolder& folder) {
  return save(folder, "mlp.onnx", onnx::mlp_model());
}

std::string write_text_model(const TempFolder& folder) {
  pb::ModelProto model = onnx::empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  for (const char* name : {"input_ids", "attention_mask", "token_type_ids"})
    onnx::add_input(graph, name, {"batch", "sequence"}, pb::TensorProto::INT64);
  onnx::add_node(graph, {"Add", {"input_ids", "attention_mask"}, {"sum"}});
  onnx::add_node(graph, {"Add", {"sum", "token_type_ids"}, {"whole"}});
  onnx::add_attr(onnx::add_node(graph, {"Cast", {"whole"}, {"total"}}), "to",
                 int64_t{pb::TensorProto::FLOAT});
  onnx::add_output(graph, "total");
  return save(folder, "text.onnx", model);
}

std::string write_external(const TempFolder& folder, int64_t rows, int64_t columns,
                           bool with_data) {
  pb::ModelProto model = onnx::empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  onnx::add_input(graph, "x", {1, rows});
  pb::TensorProto& weight = *graph.add_initializer();
  weight.set_name("w");
  weight.set_data_type(pb::TensorProto::FLOAT);
  weight.add_dims(rows);
  weight.add_dims(columns);
  weight.set_data_location(pb::TensorProto::EXTERNAL);
  pb::StringStringEntryProto& location = *weight.add_external_data();
  location.set_key("location");
  location.set_value("weights.bin");
  onnx::add_node(graph, {"MatMul", {"x", "w"}, {"y"}});
  onnx::add_output(graph, "y");
  if (with_data) {
    write_all(folder.file("weights.bin"), "");
    std::filesystem::resize_file(folder.file("weights.bin"),
                                 static_cast<uintmax_t>(rows * columns) * sizeof(float));
  }
  return save(folder, "external.onnx", model);
}

std::string write_branches(const TempFolder& folder) {
  pb::ModelProto model = onnx::empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  onnx::add_input(graph, "x", {4, 4});
  onnx::add_weight(graph, "a", {4, 4});
  onnx::add_weight(graph, "b", {4, 8});
  onnx::add_node(graph, {"MatMul", {"x", "a"}, {"xa"}, "left"});
  onnx::add_node(graph, {"Softmax", {"xa"}, {"sa"}, "left_softmax"});
  onnx::add_node(graph, {"MatMul", {"x", "b"}, {"xb"}, "right"});
  onnx::add_node(graph, {"Softmax", {"xb"}, {"sb"}, "right_softmax"});
  onnx::add_node(graph, {"MatMul", {"sa", "sb"}, {"y"}, "join"});
  onnx::add_output(graph, "y");
  return save(folder, "branches.onnx", model);
}

std::string write_outer_product(const TempFolder& folder) {
  pb::ModelProto model = onnx::empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  onnx::add_input(graph, "a", {"n", 1});
  onnx::add_input(graph, "b", {1, "n"});
  onnx::add_node(graph, {"MatMul", {"a", "b"}, {"ab"}});
  onnx::add_attr(onnx::add_node(graph, {"ReduceMax", {"ab"}, {"y"}}), "keepdims", int64_t{0});
  onnx::add_output(graph, "y");
  return save(folder, "outer.onnx", model);
}

std::string write_relu(const TempFolder& folder) {
  pb::ModelProto model = onnx::empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  onnx::add_input(graph, "x", {"n", 3, "h", "w"});
  onnx::add_node(graph, {"Relu", {"x"}, {"y"}});
  onnx::add_output(graph, "y");
  return save(folder, "relu.onnx", model);
}

std::string write_loop(const TempFolder& folder) {
  return save(folder, "loop.onnx", onnx::loop_model());
}

std::string build_mlp(const TempFolder& folder) {
  const std::string plan = folder.file("mlp.plan");
  const Finished built = tilewright({"build", write_mlp(folder), "-o", plan, "--shapes", "x:Nx4"});
  EXPECT_EQ(built.exit_code, 0) << built.err;
  return plan;
}

std::string write_scalar(const TempFolder& folder, const std::string& name, int64_t value) {
  return save_npy(folder, name, Tensor::from_ints({&value, 1}, true));
}

std::string write_npy(const TempFolder& folder, const std::string& name, const std::string& dtype,
                      const std::vector<int64_t>& dims) {
  Dims shape;
  for (const int64_t dim : dims) shape.push_back(dim);
  auto made = Tensor::try_make(*find_dtype(dtype), shape);
  Tensor tensor = std::move(made).take();
  for (int64_t i = 0; i < tensor.count(); ++i) tensor.set_float(i, static_cast<double>(i) / 8);
  return save_npy(folder, name, tensor);
}

}  // namespace tw::cli_test
