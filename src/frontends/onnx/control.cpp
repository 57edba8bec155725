#include "frontends/onnx/control.h"

#include <algorithm>
#include <optional>

#include "frontends/onnx/attrs.h"
#include "frontends/onnx/names.h"

namespace tw::onnx {
namespace {

constexpr int kOldestScanOpset = 9;

/// What bodies read from outside that is no constant; the same list for all bodies of a node.
struct Captures {
  std::vector<std::string> names;
  std::vector<ir::ValueId> ids;
};

Result<Captures> find_captures(Scope& scope, std::initializer_list<const RawGraph*> bodies) {
  Captures captures;
  std::unordered_set<std::string> seen;
  for (const RawGraph* body : bodies)
    for (const std::string& name : free_names(*body)) {
      if (!seen.insert(name).second) continue;
      const auto id = scope.find(name);
      if (!id)
        return error(Code::kInvalidModel, "nothing defines ", in_quotes(name),
                     ", which its body reads");
      if (scope.graph.value(*id).constant) continue;
      captures.names.push_back(name);
      captures.ids.push_back(*id);
    }
  return captures;
}

Result<const RawGraph*> body_of(const RawNode& node, std::string_view name) {
  const RawAttr* attr = find_attr(node, name);
  const auto* body =
      attr == nullptr ? nullptr : std::get_if<std::shared_ptr<RawGraph>>(&attr->value);
  if (body == nullptr) return error(Code::kInvalidModel, "no subgraph ", in_quotes(name));
  return static_cast<const RawGraph*>(body->get());
}

/// The node's other attributes.
Result<ir::Attrs> attrs_without(const RawNode& node,
                                std::initializer_list<std::string_view> names) {
  RawNode rest;
  for (const RawAttr& attr : node.attrs)
    if (std::find(names.begin(), names.end(), attr.name) == names.end()) rest.attrs.push_back(attr);
  return to_attrs(rest);
}

Result<void> expect_count(std::string_view what, size_t found, size_t least, size_t most) {
  if (found >= least && found <= most) return {};
  return error(Code::kInvalidModel, found, " ", what, ", expected ",
               least == most ? cat(least) : cat(least, " to ", most));
}

/// One body as a closed graph whose inputs have these types, followed by the captures.
Result<ir::Graph> convert_body(Scope& outer, const RawGraph& raw,
                               const std::vector<ir::TensorType>& types, const Captures& captures) {
  if (outer.depth >= kMaxNesting)
    return error(Code::kUnsupported, "subgraphs are nested deeper than ", kMaxNesting);
  Scope scope(raw, &outer, outer.n_nodes_left);
  for (size_t i = 0; i < types.size(); ++i) {
    ir::Value value;
    value.name = raw.inputs[i].name;
    value.type = types[i];
    scope.names[value.name] = scope.graph.add_value(value);
    scope.graph.inputs.push_back(scope.names[value.name]);
  }
  for (size_t i = 0; i < captures.ids.size(); ++i) {
    const ir::Value& source = outer.graph.value(captures.ids[i]);
    ir::Value value;
    value.type = source.type;
    value.ints = source.ints;
    const bool is_hidden = scope.taken.contains(captures.names[i]);  // the body has its own
    const ir::ValueId id = scope.add_value(captures.names[i], std::move(value));
    if (!is_hidden) scope.names[captures.names[i]] = id;
    scope.graph.inputs.push_back(id);
  }
  TRY(convert_nodes(scope));
  for (const std::string& name : raw.outputs) {
    const auto id = scope.find(name);
    if (!id) return error(Code::kInvalidModel, "nothing defines output ", in_quotes(name));
    scope.graph.outputs.push_back(*id);
  }
  outer.graph.n_fresh_symbols = scope.graph.n_fresh_symbols;
  return std::move(scope.graph);
}

/// Which inputs and outputs of a body are the two ends of a carried value.
struct Carried {
  size_t first_input;
  size_t first_output;
  size_t count;
};

/// Replaces dims of the carried inputs that come out of the body different by new symbols; whether
/// there were any.
Result<bool> widen(Scope& scope, const ir::Graph& body, const Carried& carried,
                   std::vector<ir::TensorType>& types, std::vector<std::vector<bool>>& is_wide) {
  bool changed = false;
  for (size_t i = 0; i < carried.count; ++i) {
    ir::TensorType& in = types[carried.first_input + i];
    const ir::TensorType& out = body.value(body.outputs[carried.first_output + i]).type;
    if (in.dtype != out.dtype || in.shape.size() != out.shape.size())
      return error(in.dtype != out.dtype ? Code::kInvalidModel : Code::kUnsupported,
                   "carried value ", i, " goes in as ", in, " and comes out as ", out,
                   ", expected the same type and rank");
    is_wide[i].resize(in.shape.size(), false);
    for (size_t axis = 0; axis < in.shape.size(); ++axis) {
      if (is_wide[i][axis] || in.shape[axis] == out.shape[axis]) continue;
      in.shape[axis] = Dim::symbol(cat("u", scope.graph.n_fresh_symbols++));
      is_wide[i][axis] = changed = true;
    }
  }
  return changed;
}

/// A body that is run again on what it made: converted anew until the types of its carried inputs
/// hold for every round.
Result<ir::Graph> convert_loop_body(Scope& scope, const RawGraph& raw,
                                    std::vector<ir::TensorType> types, const Carried& carried,
                                    const Captures& captures) {
  std::vector<std::vector<bool>> is_wide(carried.count);
  for (;;) {  // ends: each round makes at least one more dim wide
    ir::Graph body = TRY(convert_body(scope, raw, types, captures));
    const bool changed = TRY(widen(scope, body, carried, types, is_wide));
    if (!changed) return body;
  }
}

std::shared_ptr<const ir::Graph> share(ir::Graph graph) {
  return std::make_shared<const ir::Graph>(std::move(graph));
}

Result<void> append_control(Scope& scope, const RawNode& node, const ir::OpDef& op,
                            std::vector<ir::ValueId> inputs, const Captures& captures,
                            ir::Attrs attrs, size_t n_outputs) {
  inputs.insert(inputs.end(), captures.ids.begin(), captures.ids.end());
  while (!inputs.empty() && inputs.back() == ir::kNoValue) inputs.pop_back();
  ir::Attrs matched = TRY(match_attrs(op, std::move(attrs)));
  return append_node(scope, node, op, std::move(inputs), std::move(matched), n_outputs);
}

/// The condition of an If where shapes or constants determine it.
std::optional<bool> known_condition(const Scope& scope, ir::ValueId id) {
  const ir::Value& value = scope.graph.value(id);
  if (value.constant && value.constant->count() == 1) return value.constant->int_at(0) != 0;
  if (!value.ints || value.ints->size() != 1 || !value.ints->front().is_constant())
    return std::nullopt;
  return value.ints->front().constant() != 0;
}

struct Branches {
  const RawGraph* then_raw;
  const RawGraph* else_raw;
};

/// Converts the branch that a known condition takes, else both. A branch that contradicts the
/// shapes it is given cannot run with them (exporters leave such branches in); it is refused when
/// it is taken, and not before.
Result<void> convert_branches(Scope& scope, const Branches& raw, std::optional<bool> taken,
                              const Captures& captures, ir::Attrs& attrs) {
  if (taken) {
    const char* name = *taken ? "then_branch" : "else_branch";
    const auto body = share(
        TRY(convert_body(scope, *taken ? *raw.then_raw : *raw.else_raw, {}, captures).in(name)));
    attrs["then_branch"] = body;
    attrs["else_branch"] = body;
    return {};
  }
  Result<ir::Graph> then_body = convert_body(scope, *raw.then_raw, {}, captures);
  Result<ir::Graph> else_body = convert_body(scope, *raw.else_raw, {}, captures);
  const bool both_failed = !then_body.ok() && !else_body.ok();
  for (const auto* body : {&then_body, &else_body})
    if (!body->ok() && (both_failed || body->error().code != Code::kInvalidModel))
      return Error(Result<void>(body->error())
                       .in(body == &then_body ? "then_branch" : "else_branch")
                       .error());
  if (!then_body.ok()) attrs["then_refusal"] = then_body.error().message;
  if (!else_body.ok()) attrs["else_refusal"] = else_body.error().message;
  const auto shared_then = then_body.ok() ? share(std::move(then_body).take()) : nullptr;
  const auto shared_else = else_body.ok() ? share(std::move(else_body).take()) : nullptr;
  attrs["then_branch"] = shared_then != nullptr ? shared_then : shared_else;
  attrs["else_branch"] = shared_else != nullptr ? shared_else : shared_then;
  return {};
}

Result<void> convert_if(Scope& scope, const RawNode& node, const ir::OpDef& op) {
  const RawGraph* then_raw = TRY(body_of(node, "then_branch"));
  const RawGraph* else_raw = TRY(body_of(node, "else_branch"));
  std::vector<ir::ValueId> inputs = TRY(find_inputs(scope, node));
  TRY(expect_count("inputs", inputs.size(), 1, 1));
  TRY(expect_count("inputs of then_branch", then_raw->inputs.size(), 0, 0));
  TRY(expect_count("inputs of else_branch", else_raw->inputs.size(), 0, 0));
  TRY(expect_count("outputs of then_branch", then_raw->outputs.size(), node.outputs.size(),
                   SIZE_MAX));
  TRY(expect_count("outputs of else_branch", else_raw->outputs.size(), then_raw->outputs.size(),
                   then_raw->outputs.size()));
  ir::Attrs attrs = TRY(attrs_without(node, {"then_branch", "else_branch"}));
  const std::optional<bool> taken = known_condition(scope, inputs[0]);
  const Captures captures = taken ? TRY(find_captures(scope, {*taken ? then_raw : else_raw}))
                                  : TRY(find_captures(scope, {then_raw, else_raw}));
  TRY(convert_branches(scope, {then_raw, else_raw}, taken, captures, attrs));
  return append_control(scope, node, op, std::move(inputs), captures, std::move(attrs),
                        then_raw->outputs.size());
}

/// The types of inputs `begin` to `end`, which must be there.
Result<std::vector<ir::TensorType>> present_types(const Scope& scope,
                                                  const std::vector<ir::ValueId>& inputs,
                                                  size_t begin, size_t end) {
  std::vector<ir::TensorType> types;
  for (size_t i = begin; i < end; ++i) {
    if (i >= inputs.size() || inputs[i] == ir::kNoValue)
      return error(Code::kInvalidModel, "input ", i, " is missing");
    types.push_back(scope.graph.value(inputs[i]).type);
  }
  return types;
}

Result<void> convert_loop(Scope& scope, const RawNode& node, const ir::OpDef& op) {
  const RawGraph* raw = TRY(body_of(node, "body"));
  std::vector<ir::ValueId> inputs = TRY(find_inputs(scope, node));
  if (inputs.size() < 2) inputs.resize(2, ir::kNoValue);
  const size_t n_carried = inputs.size() - 2;
  TRY(expect_count("inputs of the body", raw->inputs.size(), 2 + n_carried, 2 + n_carried));
  TRY(expect_count("outputs of the body", raw->outputs.size(), 1 + n_carried, SIZE_MAX));
  TRY(expect_count("outputs", node.outputs.size(), 0, raw->outputs.size() - 1));
  const std::vector<ir::TensorType> carried_types =
      TRY(present_types(scope, inputs, 2, inputs.size()));
  std::vector<ir::TensorType> types{{DType::kI64, {}}, {DType::kBool, {}}};
  types.insert(types.end(), carried_types.begin(), carried_types.end());
  const Captures captures = TRY(find_captures(scope, {raw}));
  ir::Attrs attrs = TRY(attrs_without(node, {"body"}));
  const Carried carried{.first_input = 2, .first_output = 1, .count = n_carried};
  attrs["body"] = share(TRY(convert_loop_body(scope, *raw, types, carried, captures).in("body")));
  attrs["n_carried"] = static_cast<int64_t>(n_carried);
  return append_control(scope, node, op, std::move(inputs), captures, std::move(attrs),
                        raw->outputs.size() - 1);
}

/// The type of one slice of a scan input: without its axis, which may count from the end.
Result<ir::TensorType> slice_type(ir::TensorType type, int64_t axis) {
  const auto rank = static_cast<int64_t>(type.shape.size());
  if (axis < -rank || axis >= rank)
    return error(Code::kInvalidModel, "a scan input of rank ", rank, " has no axis ", axis);
  type.shape.erase(type.shape.begin() + (axis < 0 ? axis + rank : axis));
  return type;
}

Result<std::vector<int64_t>> scan_axes(const ir::Attrs& attrs, size_t count) {
  const auto given = attrs.find("scan_input_axes");
  if (given == attrs.end()) return std::vector<int64_t>(count, 0);
  const auto* axes = std::get_if<std::vector<int64_t>>(&given->second);
  if (axes != nullptr && axes->size() == count) return *axes;
  return error(Code::kInvalidModel, "attribute 'scan_input_axes' does not have ", count,
               " integers");
}

Result<void> convert_scan(Scope& scope, const RawNode& node, const ir::OpDef& op) {
  if (node.opset < kOldestScanOpset)
    return error(Code::kUnsupported, "opset ", node.opset, " of Scan is not supported, expected ",
                 kOldestScanOpset, " or newer");
  const RawGraph* raw = TRY(body_of(node, "body"));
  std::vector<ir::ValueId> inputs = TRY(find_inputs(scope, node));
  ir::Attrs attrs = TRY(attrs_without(node, {"body"}));
  const auto* n_scan = std::get_if<int64_t>(&attrs["num_scan_inputs"]);
  if (n_scan == nullptr || *n_scan < 1 || static_cast<size_t>(*n_scan) > inputs.size())
    return error(Code::kInvalidModel, "attribute 'num_scan_inputs' is missing or not in 1 to ",
                 inputs.size());
  const size_t n_states = inputs.size() - static_cast<size_t>(*n_scan);
  TRY(expect_count("inputs of the body", raw->inputs.size(), inputs.size(), inputs.size()));
  TRY(expect_count("outputs of the body", raw->outputs.size(), n_states, SIZE_MAX));
  TRY(expect_count("outputs", node.outputs.size(), 0, raw->outputs.size()));
  const std::vector<int64_t> axes = TRY(scan_axes(attrs, inputs.size() - n_states));
  std::vector<ir::TensorType> types = TRY(present_types(scope, inputs, 0, inputs.size()));
  for (size_t i = n_states; i < types.size(); ++i)
    types[i] = TRY(slice_type(types[i], axes[i - n_states]));
  const Captures captures = TRY(find_captures(scope, {raw}));
  const Carried carried{.first_input = 0, .first_output = 0, .count = n_states};
  attrs["body"] = share(TRY(convert_loop_body(scope, *raw, types, carried, captures).in("body")));
  attrs["n_carried"] = static_cast<int64_t>(n_states);
  return append_control(scope, node, op, std::move(inputs), captures, std::move(attrs),
                        raw->outputs.size());
}

}  // namespace

bool is_control_node(const RawNode& node) {
  return node.domain.empty() &&
         (node.op_type == "If" || node.op_type == "Loop" || node.op_type == "Scan");
}

Result<void> convert_control(Scope& scope, const RawNode& node, const ir::OpDef& op) {
  if (node.op_type == "If") return convert_if(scope, node, op);
  if (node.op_type == "Loop") return convert_loop(scope, node, op);
  return convert_scan(scope, node, op);
}

}  // namespace tw::onnx
