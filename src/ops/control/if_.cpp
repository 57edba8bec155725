// if: one of two bodies, chosen by a condition that only data may tell. Both bodies take the node's
// captures as their inputs. The planner runs it on the host, between segments.
#include "ir/evaluate.h"
#include "ir/op_def.h"
#include "ops/control/common_body.h"

namespace tw::ops {
namespace {

/// The condition, where it is known before the model runs.
std::optional<bool> known_condition(const ir::InferContext& c) {
  const auto ints = c.constant_ints(0);
  if (!ints || ints->size() != 1) return std::nullopt;
  return ints->front() != 0;
}

/// What is true of both branches' results; a size in which they differ becomes a new symbol.
Result<ir::Value> common_value(ir::InferContext& c, const ir::Value& a, const ir::Value& b) {
  if (a.type.dtype != b.type.dtype || a.type.shape.size() != b.type.shape.size())
    return error(Code::kUnsupported, "is ", a.type, " in then_branch and ", b.type,
                 " in else_branch, expected the same type and rank");
  ir::Value both = typed_value(a.type);
  for (size_t d = 0; d < both.type.shape.size(); ++d)
    if (!(a.type.shape[d] == b.type.shape[d])) both.type.shape[d] = c.fresh_symbol();
  if (a.ints && b.ints && *a.ints == *b.ints) both.ints = a.ints;
  return both;
}

Result<std::vector<ir::Value>> infer_branch(ir::InferContext& c, const char* name,
                                            const std::vector<ir::Value>& captures) {
  const ir::Graph& branch = c.attr_graph(name);
  if (branch.outputs.size() != c.n_outputs())
    return error(Code::kInvalidModel, name, " has ", branch.outputs.size(), " outputs, the node ",
                 c.n_outputs());
  return infer_body(c, branch, captures).in(name);
}

Result<void> infer(ir::InferContext& c) {
  if (c.in(0).dtype != DType::kBool)
    return error(Code::kInvalidModel, "input 'cond' is ", c.in(0).dtype, ", expected bool");
  std::vector<ir::Value> captures;
  for (size_t i = 1; i < c.n_inputs(); ++i) captures.push_back(input_value(c, i));
  const std::optional<bool> taken = known_condition(c);
  std::vector<ir::Value> results;
  if (taken) {
    results = TRY(infer_branch(c, *taken ? "then_branch" : "else_branch", captures));
  } else {
    const std::vector<ir::Value> a = TRY(infer_branch(c, "then_branch", captures));
    const std::vector<ir::Value> b = TRY(infer_branch(c, "else_branch", captures));
    for (size_t i = 0; i < a.size(); ++i)
      results.push_back(TRY(common_value(c, a[i], b[i]).in(cat("output ", i))));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    c.out(i, results[i].type);
    if (results[i].ints) c.out_ints(i, *results[i].ints);
  }
  return {};
}

Result<void> reference(ir::EvalContext& c) {
  if (c.in(0).count() != 1)
    return error(Code::kInvalidModel, "input 'cond' has ", c.in(0).count(),
                 " elements, expected 1");
  std::vector<Tensor> captures;
  for (size_t i = 1; i < c.n_inputs(); ++i) captures.push_back(c.in(i));
  const bool taken = c.in(0).int_at(0) != 0;
  const char* branch = taken ? "then_branch" : "else_branch";
  const std::string refusal = c.attr_string(taken ? "then_refusal" : "else_refusal");
  if (!refusal.empty())
    return error(Code::kInvalidArgument, branch, " cannot run with these shapes: ", refusal);
  std::vector<Tensor> results = TRY(ir::evaluate_graph(c.attr_graph(branch), captures).in(branch));
  for (size_t i = 0; i < results.size(); ++i)
    if (c.has_out(i)) c.set_out(i, std::move(results[i]));
  return {};
}

}  // namespace

extern constinit const ir::OpDef if_ = {
    .name = "if",
    .doc = "ys = then_branch(captures) where cond, else else_branch(captures)",
    .inputs = {"cond", "captures..."},
    .outputs = {"ys..."},
    .attrs = {{"then_branch", {}}, {"else_branch", {}}, {"then_refusal", {}}, {"else_refusal", {}}},
    .onnx = {{"If", 1}},
    .infer = infer,
    .reference = reference,
    .cases = {},
};

}  // namespace tw::ops
