// op_def.h: what an op is. Each op is one constinit OpDef in a file of its own under ops/;
// importer, shape inference, reference evaluation, lowering, tests, benchmarks and docs are all
// derived from these fields.
#pragma once

#include <span>
#include <string_view>
#include <variant>

#include "base/fixed_list.h"
#include "ir/contexts.h"
#include "ir/graph.h"

namespace tw::ops {
class LowerContext;      // ops/lower.h: emits tasks
class PointwiseContext;  // ops/lower.h: emits instructions of an elementwise program
}  // namespace tw::ops

namespace tw::ir {

/// An attribute's default. No default (monostate): absent unless given; `attr_ints` then reads an
/// empty list.
using AttrDefault = std::variant<std::monostate, int64_t, double, std::string_view>;

struct AttrDef {
  std::string_view name;
  AttrDefault fallback;
};

/// The ONNX operator that imports as this op from opset `since` on, until a later entry of the same
/// name takes over.
struct OnnxName {
  std::string_view name;
  int since = 1;
  /// Rewrites an older form; null: inputs, outputs and attributes correspond one to one.
  Result<void> (*import)(ImportContext&) = nullptr;
  std::string_view domain = {};  // "" is ai.onnx
};

struct OpDef {
  std::string_view name;  // equals the file name
  std::string_view doc;   // one line: the meaning
  FixedList<std::string_view, 16> inputs =
      {};  // "x"; "bias?" may be absent; "xs..." takes the rest
  FixedList<std::string_view, 8> outputs = {};  // same marks
  FixedList<AttrDef, 16> attrs = {};
  FixedList<OnnxName, 8> onnx = {};

  /// Output types from input types; also known integer contents, where shape arithmetic passes
  /// through the op.
  Result<void> (*infer)(InferContext&) = nullptr;
  /// The meaning: double for floats, exact for integers, obvious before fast. Required unless
  /// `decompose` is there.
  Result<void> (*reference)(EvalContext&) = nullptr;
  /// The op in terms of others. A fused op's decomposition is its definition.
  Result<void> (*decompose)(DecomposeContext&) = nullptr;
  /// Emits whole-op tasks. An op without it is decomposed before lowering.
  Result<void> (*lower)(ops::LowerContext&) = nullptr;
  /// For elementwise ops: the instructions for one element; such ops fuse with each other and into
  /// other tasks' ends.
  Result<void> (*pointwise)(ops::PointwiseContext&) = nullptr;

  /// Test cases as text, read by ir/op_case.h: "f32[2,3] i64{0,2} ; axis=1". At least one odd
  /// shape, one empty or size-1 dimension, one production shape.
  FixedList<std::string_view, 24> cases = {};
};

/// Every op, ordered by name. Defined by the table that the build generates from the folders under
/// ops/.
std::span<const OpDef* const> op_table();
/// Null when there is no such op.
const OpDef* find_op(std::string_view name);
/// The op that imports `onnx_name` of `domain` at `opset`, and the entry that says how; null when
/// there is none.
struct OnnxMatch {
  const OpDef* op = nullptr;
  const OnnxName* entry = nullptr;
};
OnnxMatch find_onnx(std::string_view domain, std::string_view onnx_name, int opset);

/// The attribute as set on the node, else the op's default; null when there is neither.
const Attr* find_attr(const Node& node, std::string_view name);

}  // namespace tw::ir
