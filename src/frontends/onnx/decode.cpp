#include "frontends/onnx/decode.h"

#include <google/protobuf/io/coded_stream.h>

#include <limits>
#include <new>

#include "onnx-ml.pb.h"

#include "base/memory.h"
#include "frontends/onnx/sniff.h"
#include "frontends/onnx/tensor_data.h"

namespace tw::onnx {
namespace {

namespace pb = ::onnx;

/// Three messages a subgraph, and room for the tensors in the innermost.
constexpr int kMaxMessageDepth = 3 * (kMaxNesting + 4);
constexpr int64_t kMaxVersion = 100000;

std::string canonical(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

/// Turns one parsed message into a RawModel; holds what all parts need.
class Decoder {
 public:
  Decoder(std::shared_ptr<const pb::ModelProto> model, ExternalFiles& files)
      : model_(std::move(model)), files_(files) {}

  Result<RawModel> run();

 private:
  using Opsets = std::map<std::string, int>;

  template <class Message>
  Result<Opsets> opsets(const Message& message);
  Result<RawGraph> graph(const pb::GraphProto& proto, const Opsets& opsets, int depth);
  Result<std::vector<RawNode>> nodes(
      const google::protobuf::RepeatedPtrField<pb::NodeProto>& protos, const Opsets& opsets,
      int depth);
  Result<RawNode> node(const pb::NodeProto& proto, int index, const Opsets& opsets, int depth);
  Result<RawAttr> attr(const pb::AttributeProto& proto, const Opsets& opsets, int depth);
  Result<RawInput> input(const pb::ValueInfoProto& proto, bool is_main);
  Result<void> function(const pb::FunctionProto& proto);
  Result<Tensor> tensor(const pb::TensorProto& proto);

  std::shared_ptr<const pb::ModelProto> model_;
  ExternalFiles& files_;
  RawModel result_;
};

template <class Field>
auto span_of(const Field& field) {
  return std::span(field.data(), static_cast<size_t>(field.size()));
}

Result<Tensor> Decoder::tensor(const pb::TensorProto& proto) {
  if (proto.has_segment())
    return error(Code::kUnsupported, "a tensor in segments is not supported");
  TensorFields fields;
  fields.dims = span_of(proto.dims());
  fields.data_type = proto.data_type();
  fields.raw = proto.raw_data();
  fields.floats = span_of(proto.float_data());
  fields.doubles = span_of(proto.double_data());
  fields.ints32 = span_of(proto.int32_data());
  fields.ints64 = span_of(proto.int64_data());
  fields.uints64 = span_of(proto.uint64_data());
  fields.is_external = proto.data_location() == pb::TensorProto::EXTERNAL;
  for (const auto& entry : proto.external_data())
    fields.external.emplace_back(entry.key(), entry.value());
  return make_tensor(fields, model_, files_);
}

Result<RawInput> Decoder::input(const pb::ValueInfoProto& proto, bool is_main) {
  RawInput result;
  result.name = proto.name();
  if (!is_main) return result;  // a subgraph's inputs have the types of what flows into them
  if (!proto.type().has_tensor_type())
    return error(Code::kUnsupported, "its type is no tensor (",
                 proto.has_type() ? "a sequence, map, optional or sparse tensor" : "none is given",
                 ")");
  const auto& type = proto.type().tensor_type();
  result.dtype = TRY(to_dtype(type.elem_type()));
  if (!type.has_shape()) return result;
  result.shape.emplace();
  for (const auto& dim : type.shape().dim()) {
    RawDim raw;
    if (dim.has_dim_value()) raw.size = dim.dim_value();
    if (dim.has_dim_param()) raw.symbol = dim.dim_param();
    result.shape->push_back(std::move(raw));
  }
  return result;
}

Result<RawAttr> Decoder::attr(const pb::AttributeProto& proto, const Opsets& opsets, int depth) {
  RawAttr result;
  result.name = proto.name();
  result.reference = proto.ref_attr_name();
  if (!result.reference.empty()) return result;
  switch (proto.type()) {
    case pb::AttributeProto::INT:
      result.value = proto.i();
      break;
    case pb::AttributeProto::FLOAT:
      result.value = static_cast<double>(proto.f());
      break;
    case pb::AttributeProto::STRING:
      result.value = proto.s();
      break;
    case pb::AttributeProto::INTS:
      result.value = std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
      break;
    case pb::AttributeProto::FLOATS:
      result.value = std::vector<double>(proto.floats().begin(), proto.floats().end());
      break;
    case pb::AttributeProto::STRINGS:
      result.value = std::vector<std::string>(proto.strings().begin(), proto.strings().end());
      break;
    case pb::AttributeProto::TENSOR:
      result.value = TRY(tensor(proto.t()));
      break;
    case pb::AttributeProto::GRAPH:
      result.value = std::make_shared<RawGraph>(TRY(graph(proto.g(), opsets, depth + 1)));
      break;
    case pb::AttributeProto::UNDEFINED:
      return error(Code::kInvalidModel, "its type is not given");
    default:
      result.value = UnsupportedAttr{pb::AttributeProto::AttributeType_Name(proto.type())};
  }
  return result;
}

Result<RawNode> Decoder::node(const pb::NodeProto& proto, int index, const Opsets& opsets,
                              int depth) {
  RawNode result;
  result.op_type = proto.op_type();
  result.domain = canonical(proto.domain());
  result.overload = proto.overload();
  result.name = proto.name().empty() ? cat(result.op_type, "_", index) : proto.name();
  const auto opset = opsets.find(result.domain);
  if (opset != opsets.end()) result.opset = opset->second;
  result.inputs.assign(proto.input().begin(), proto.input().end());
  result.outputs.assign(proto.output().begin(), proto.output().end());
  for (const auto& attribute : proto.attribute()) {
    if (find_attr(result, attribute.name()) != nullptr)
      return error(Code::kInvalidModel, describe(result), ": attribute ",
                   in_quotes(attribute.name()), " is given twice");
    result.attrs.push_back(
        TRY(attr(attribute, opsets, depth)
                .in(cat(describe(result), ": attribute ", in_quotes(attribute.name())))));
  }
  return result;
}

Result<std::vector<RawNode>> Decoder::nodes(
    const google::protobuf::RepeatedPtrField<pb::NodeProto>& protos, const Opsets& opsets,
    int depth) {
  std::vector<RawNode> result;
  result.reserve(static_cast<size_t>(protos.size()));
  for (int i = 0; i < protos.size(); ++i) result.push_back(TRY(node(protos[i], i, opsets, depth)));
  return result;
}

Result<RawGraph> Decoder::graph(const pb::GraphProto& proto, const Opsets& opsets, int depth) {
  if (depth > kMaxNesting)
    return error(Code::kUnsupported, "subgraphs are nested deeper than ", kMaxNesting);
  RawGraph result;
  result.name = proto.name();
  if (proto.sparse_initializer_size() > 0)
    return error(Code::kUnsupported, "initialiser ",
                 in_quotes(proto.sparse_initializer(0).values().name()),
                 " is sparse, expected dense");
  for (const auto& initialiser : proto.initializer()) {
    const std::string place = cat("initialiser ", in_quotes(initialiser.name()));
    if (initialiser.name().empty()) return error(Code::kInvalidModel, place, " has no name");
    Tensor data = TRY(tensor(initialiser).in(place));
    if (!result.initialisers.emplace(initialiser.name(), std::move(data)).second)
      return error(Code::kInvalidModel, place, " is there twice");
  }
  for (const auto& in : proto.input()) {
    // IR 3 lists initialisers as inputs too, later versions may: they are constants here.
    if (depth == 0 && result.initialisers.contains(in.name())) continue;
    result.inputs.push_back(
        TRY(input(in, depth == 0).in(cat("graph input ", in_quotes(in.name())))));
  }
  for (const auto& out : proto.output()) result.outputs.push_back(out.name());
  result.nodes = TRY(nodes(proto.node(), opsets, depth));
  return result;
}

template <class Message>
Result<Decoder::Opsets> Decoder::opsets(const Message& message) {
  Opsets result;
  for (const auto& entry : message.opset_import()) {
    const std::string domain = canonical(entry.domain());
    const std::string place = cat("opset of ", domain_name(domain), " is ", entry.version());
    if (entry.version() < 1 || entry.version() > kMaxVersion)
      return error(Code::kInvalidModel, place, ", which is no opset");
    if (!result.emplace(domain, static_cast<int>(entry.version())).second)
      return error(Code::kInvalidModel, place, " in a second entry, expected one");
    if (!domain.empty()) continue;
    if (entry.version() < kOldestOpset)
      return error(Code::kUnsupported, place, ", expected ", kOldestOpset, " to ", kNewestOpset);
    if (entry.version() > kNewestOpset)
      result_.notes.push_back(cat(place, ", newer than ", kNewestOpset,
                                  ": operators are read as of opset ", kNewestOpset));
  }
  return result;
}

Result<void> Decoder::function(const pb::FunctionProto& proto) {
  const FunctionKey key{canonical(proto.domain()), proto.name(), proto.overload()};
  RawFunction result;
  result.inputs.assign(proto.input().begin(), proto.input().end());
  result.outputs.assign(proto.output().begin(), proto.output().end());
  const Opsets imports = TRY(opsets(proto));
  for (const auto& attribute : proto.attribute_proto())
    result.defaults.push_back(
        TRY(attr(attribute, imports, 0).in(cat("attribute ", in_quotes(attribute.name())))));
  result.nodes = TRY(nodes(proto.node(), imports, 0));
  if (!result_.functions.emplace(key, std::move(result)).second)
    return error(Code::kInvalidModel, "it is defined twice");
  return {};
}

Result<RawModel> Decoder::run() {
  const int64_t ir_version = model_->ir_version();
  if (ir_version < kOldestIrVersion)
    return error(Code::kUnsupported, "ir_version is ", ir_version, ", expected ", kOldestIrVersion,
                 " to ", kNewestIrVersion);
  if (ir_version > kNewestIrVersion)
    result_.notes.push_back(cat("ir_version is ", ir_version, ", newer than ", kNewestIrVersion));
  const Opsets imports = TRY(opsets(*model_));
  if (imports.empty())
    return error(Code::kInvalidModel, "no opset_import; the file may have been cut short");
  for (const auto& proto : model_->functions())
    TRY(function(proto).in(
        cat("function ", in_quotes(proto.name()), " of domain ", in_quotes(proto.domain()))));
  result_.graph = TRY(graph(model_->graph(), imports, 0));
  return std::move(result_);
}

Error not_onnx(std::span<const std::byte> bytes) {
  const std::string kind = looks_like(bytes);
  if (!kind.empty()) return error(Code::kCorrupt, "this is no ONNX model: it looks like ", kind);
  return error(Code::kCorrupt, "this is no ONNX model, or a damaged one: its ", bytes.size(),
               " bytes are not a protobuf message with a graph");
}

bool parse(std::span<const std::byte> bytes, pb::ModelProto& model) {
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kMaxMessageDepth);
  return model.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

}  // namespace

Result<RawModel> decode_model(std::span<const std::byte> bytes, ExternalFiles& files) {
  if (bytes.empty()) return error(Code::kCorrupt, "the file is empty, expected an ONNX model");
  if (bytes.size() > std::numeric_limits<int>::max())
    return error(Code::kUnsupported, "the model has ", bytes.size(),
                 " bytes, but a protobuf message at most 2147483647; export it with external data");
  try {
    auto model = std::make_shared<pb::ModelProto>();
    if (!parse(bytes, *model) || !model->has_graph()) return not_onnx(bytes);
    return Decoder(std::move(model), files).run();
  } catch (const std::bad_alloc&) {  // protobuf's own; nothing of ours throws it
    return error(Code::kOutOfMemory, "no memory to read a model of ", bytes.size(),
                 " bytes, found ", available_memory_bytes().value_or(0), " available");
  }
}

}  // namespace tw::onnx
