// test_models.h: small ONNX models made in memory, for the tests of this folder and the seeds of
// its fuzzers.
#pragma once

#include <onnx-ml.pb.h>

#include <string>
#include <variant>
#include <vector>

#include "frontends/onnx/import.h"

namespace tw::onnx {

namespace pb = ::onnx;

using DimSpec = std::variant<int64_t, std::string>;  // "" is a dim with neither size nor name

struct NodeSpec {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string name = {};
  std::string domain = {};
};

/// A model without a graph's contents: IR 8, one opset.
pb::ModelProto empty_model(int opset = 17);
void import_domain(pb::ModelProto& model, const std::string& domain, int version);

/// Graphs and functions both hold nodes.
template <class Container>
pb::NodeProto& add_node(Container& container, const NodeSpec& spec) {
  pb::NodeProto& node = *container.add_node();
  node.set_op_type(spec.op);
  for (const std::string& name : spec.inputs) node.add_input(name);
  for (const std::string& name : spec.outputs) node.add_output(name);
  if (!spec.name.empty()) node.set_name(spec.name);
  if (!spec.domain.empty()) node.set_domain(spec.domain);
  return node;
}

pb::ValueInfoProto& add_input(pb::GraphProto& graph, const std::string& name,
                              const std::vector<DimSpec>& dims,
                              pb::TensorProto::DataType type = pb::TensorProto::FLOAT);
void add_output(pb::GraphProto& graph, const std::string& name);
/// An initialiser with all elements 1, as float_data.
pb::TensorProto& add_weight(pb::GraphProto& graph, const std::string& name,
                            const std::vector<int64_t>& dims);
pb::TensorProto& add_ints(pb::GraphProto& graph, const std::string& name,
                          const std::vector<int64_t>& values);
pb::AttributeProto& add_attr(pb::NodeProto& node, const std::string& name, int64_t value);
pb::AttributeProto& add_attr(pb::NodeProto& node, const std::string& name, float value);
pb::AttributeProto& add_attr(pb::NodeProto& node, const std::string& name,
                             const std::vector<int64_t>& values);
pb::AttributeProto& add_ref(pb::NodeProto& node, const std::string& name,
                            const std::string& reference, pb::AttributeProto::AttributeType type);
/// The subgraph of a new attribute.
pb::GraphProto& add_body(pb::NodeProto& node, const std::string& name);

/// y = relu(x w + b), x [batch, 4].
pb::ModelProto mlp_model();
/// y = cond ? x + w : x * s, with w a constant and s an input.
pb::ModelProto if_model();
/// Two carried values, one of which grows by a row a round, and a scan output; reads k from
/// outside.
pb::ModelProto loop_model();
/// A running sum over rows.
pb::ModelProto scan_model();
/// Functions of two levels, one with an attribute and a default.
pb::ModelProto function_model();

std::string bytes_of(const pb::ModelProto& model);
Result<ir::Graph> import_model(const pb::ModelProto& model, const ImportOptions& options = {});
Result<ir::Graph> import_text(std::string_view bytes, const ImportOptions& options = {});
/// The message of a failed import; "imported" when it did not fail.
std::string error_of(const Result<ir::Graph>& graph);
/// The value of this name; its type "absent" is told apart by a failed CHECK.
const ir::Value& value_named(const ir::Graph& graph, std::string_view name);
/// "matmul(x, w) -> t; add(t, b) -> y": the nodes by op and names.
std::string nodes_text(const ir::Graph& graph);

}  // namespace tw::onnx
