#include "frontends/onnx/test_models.h"

#include <algorithm>

#include "ir/op_def.h"

namespace tw::onnx {

pb::ModelProto empty_model(int opset) {
  pb::ModelProto model;
  model.set_ir_version(8);
  import_domain(model, "", opset);
  model.mutable_graph()->set_name("test");
  return model;
}

void import_domain(pb::ModelProto& model, const std::string& domain, int version) {
  auto& entry = *model.add_opset_import();
  entry.set_domain(domain);
  entry.set_version(version);
}

pb::ValueInfoProto& add_input(pb::GraphProto& graph, const std::string& name,
                              const std::vector<DimSpec>& dims, pb::TensorProto::DataType type) {
  pb::ValueInfoProto& input = *graph.add_input();
  input.set_name(name);
  auto& tensor = *input.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  for (const DimSpec& spec : dims) {
    auto& dim = *tensor.mutable_shape()->add_dim();
    if (const auto* size = std::get_if<int64_t>(&spec))
      dim.set_dim_value(*size);
    else if (!std::get<std::string>(spec).empty())
      dim.set_dim_param(std::get<std::string>(spec));
  }
  return input;
}

void add_output(pb::GraphProto& graph, const std::string& name) {
  graph.add_output()->set_name(name);
}

pb::TensorProto& add_weight(pb::GraphProto& graph, const std::string& name,
                            const std::vector<int64_t>& dims) {
  pb::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(pb::TensorProto::FLOAT);
  int64_t count = 1;
  for (const int64_t dim : dims) {
    tensor.add_dims(dim);
    count *= dim;
  }
  for (int64_t i = 0; i < count; ++i) tensor.add_float_data(1);
  return tensor;
}

pb::TensorProto& add_ints(pb::GraphProto& graph, const std::string& name,
                          const std::vector<int64_t>& values) {
  pb::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(pb::TensorProto::INT64);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  for (const int64_t value : values) tensor.add_int64_data(value);
  return tensor;
}

pb::AttributeProto& add_attr(pb::NodeProto& node, const std::string& name, int64_t value) {
  pb::AttributeProto& attr = *node.add_attribute();
  attr.set_name(name);
  attr.set_type(pb::AttributeProto::INT);
  attr.set_i(value);
  return attr;
}

pb::AttributeProto& add_attr(pb::NodeProto& node, const std::string& name, float value) {
  pb::AttributeProto& attr = *node.add_attribute();
  attr.set_name(name);
  attr.set_type(pb::AttributeProto::FLOAT);
  attr.set_f(value);
  return attr;
}

pb::AttributeProto& add_attr(pb::NodeProto& node, const std::string& name,
                             const std::vector<int64_t>& values) {
  pb::AttributeProto& attr = *node.add_attribute();
  attr.set_name(name);
  attr.set_type(pb::AttributeProto::INTS);
  for (const int64_t value : values) attr.add_ints(value);
  return attr;
}

pb::AttributeProto& add_ref(pb::NodeProto& node, const std::string& name,
                            const std::string& reference, pb::AttributeProto::AttributeType type) {
  pb::AttributeProto& attr = *node.add_attribute();
  attr.set_name(name);
  attr.set_ref_attr_name(reference);
  attr.set_type(type);
  return attr;
}

pb::GraphProto& add_body(pb::NodeProto& node, const std::string& name) {
  pb::AttributeProto& attr = *node.add_attribute();
  attr.set_name(name);
  attr.set_type(pb::AttributeProto::GRAPH);
  attr.mutable_g()->set_name(name);
  return *attr.mutable_g();
}

pb::ModelProto mlp_model() {
  pb::ModelProto model = empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x", {"batch", 4});
  add_weight(graph, "w", {4, 8});
  add_weight(graph, "b", {8});
  add_node(graph, {"MatMul", {"x", "w"}, {"xw"}, "project"});
  add_node(graph, {"Add", {"xw", "b"}, {"sum"}, "shift"});
  add_node(graph, {"Relu", {"sum"}, {"y"}, "activate"});
  add_output(graph, "y");
  return model;
}

pb::ModelProto if_model() {
  pb::ModelProto model = empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "cond", {}, pb::TensorProto::BOOL);
  add_input(graph, "x", {"n"});
  add_input(graph, "s", {"n"});
  add_weight(graph, "w", {1});
  pb::NodeProto& node = add_node(graph, {"If", {"cond"}, {"y"}, "choose"});
  pb::GraphProto& then_branch = add_body(node, "then_branch");
  add_node(then_branch, {"Add", {"x", "w"}, {"sum"}});
  add_output(then_branch, "sum");
  pb::GraphProto& else_branch = add_body(node, "else_branch");
  add_node(else_branch, {"Mul", {"x", "s"}, {"product"}});
  add_output(else_branch, "product");
  add_output(graph, "y");
  return model;
}

pb::ModelProto loop_model() {
  pb::ModelProto model = empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "trips", {}, pb::TensorProto::INT64);
  add_input(graph, "rows", {1, 3});
  add_input(graph, "total", {3});
  add_input(graph, "k", {1, 3});
  pb::NodeProto& node =
      add_node(graph, {"Loop", {"trips", "", "rows", "total"}, {"grown", "sum", "sums"}, "repeat"});
  pb::GraphProto& body = add_body(node, "body");
  for (const char* name : {"i", "go", "rows_in", "total_in"}) body.add_input()->set_name(name);
  add_node(body, {"Identity", {"go"}, {"go_on"}});
  pb::NodeProto& concat = add_node(body, {"Concat", {"rows_in", "k"}, {"rows_out"}});
  add_attr(concat, "axis", int64_t{0});
  add_node(body, {"Add", {"total_in", "total_in"}, {"total_out"}});
  for (const char* name : {"go_on", "rows_out", "total_out", "total_in"}) add_output(body, name);
  for (const char* name : {"grown", "sum", "sums"}) add_output(graph, name);
  return model;
}

pb::ModelProto scan_model() {
  pb::ModelProto model = empty_model();
  pb::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "start", {4});
  add_input(graph, "x", {"n", 4});
  pb::NodeProto& node = add_node(graph, {"Scan", {"start", "x"}, {"last", "all"}, "accumulate"});
  add_attr(node, "num_scan_inputs", int64_t{1});
  pb::GraphProto& body = add_body(node, "body");
  for (const char* name : {"state", "row"}) body.add_input()->set_name(name);
  add_node(body, {"Add", {"state", "row"}, {"next"}});
  add_node(body, {"Identity", {"next"}, {"seen"}});
  for (const char* name : {"next", "seen"}) add_output(body, name);
  for (const char* name : {"last", "all"}) add_output(graph, name);
  return model;
}

pb::ModelProto function_model() {
  pb::ModelProto model = empty_model();
  import_domain(model, "local", 1);
  pb::FunctionProto& inner = *model.add_functions();
  inner.set_name("Turn");
  inner.set_domain("local");
  *inner.add_opset_import() = model.opset_import(0);
  inner.add_input("a");
  inner.add_output("b");
  inner.add_attribute("order");
  add_ref(add_node(inner, {"Transpose", {"a"}, {"b"}, "turn"}), "perm", "order",
          pb::AttributeProto::INTS);
  pb::FunctionProto& outer = *model.add_functions();
  outer.set_name("TurnAndScale");
  outer.set_domain("local");
  *outer.add_opset_import() = model.opset_import(0);
  import_domain(model, "unused", 1);
  outer.add_input("x");
  outer.add_input("scale");
  outer.add_output("y");
  pb::NodeProto& call = add_node(outer, {"Turn", {"x"}, {"t"}, "inner", "local"});
  add_attr(call, "order", std::vector<int64_t>{1, 0});
  add_node(outer, {"Mul", {"t", "scale"}, {"y"}, "scale"});
  pb::GraphProto& graph = *model.mutable_graph();
  add_input(graph, "x", {2, 3});
  add_weight(graph, "w", {1});
  add_node(graph, {"TurnAndScale", {"x", "w"}, {"t"}, "first", "local"});
  add_node(graph, {"TurnAndScale", {"t", "w"}, {"y"}, "second", "local"});
  add_output(graph, "y");
  return model;
}

std::string bytes_of(const pb::ModelProto& model) { return model.SerializeAsString(); }

Result<ir::Graph> import_text(std::string_view bytes, const ImportOptions& options) {
  return import_onnx_bytes(std::as_bytes(std::span(bytes)), "m.onnx", options);
}

Result<ir::Graph> import_model(const pb::ModelProto& model, const ImportOptions& options) {
  return import_text(bytes_of(model), options);
}

std::string error_of(const Result<ir::Graph>& graph) {
  return graph.ok() ? "imported" : graph.error().message;
}

const ir::Value& value_named(const ir::Graph& graph, std::string_view name) {
  const auto found = std::find_if(graph.values.begin(), graph.values.end(),
                                  [&](const ir::Value& value) { return value.name == name; });
  CHECK(found != graph.values.end(), "the test names a value of the graph");
  return *found;
}

std::string nodes_text(const ir::Graph& graph) {
  const auto names = [&](const std::vector<ir::ValueId>& ids) {
    std::vector<std::string> list;
    for (const ir::ValueId id : ids)
      list.push_back(id == ir::kNoValue ? "-" : graph.value(id).name);
    return join(list, ", ");
  };
  std::vector<std::string> lines;
  for (const ir::Node& node : graph.nodes)
    lines.push_back(cat(node.op->name, "(", names(node.inputs), ") -> ", names(node.outputs)));
  return join(lines, "; ");
}

}  // namespace tw::onnx
