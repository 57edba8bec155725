// control.h: If, Loop and Scan. ONNX bodies read names of the graphs around them; ours are closed
// graphs. What a body reads from outside becomes an input of the body and of the node (a capture);
// constants are copied in instead.
//
//   if    inputs  cond, captures...                            then_branch, else_branch: inputs
//   captures... loop  inputs  max_trip?, cond?, carried..., captures...    body: inputs iter i64[],
//   cond bool[], carried..., captures...
//         attr    n_carried                                          outputs cond, carried..., scan
//         outputs...
//   scan  inputs  states..., scan inputs..., captures...       body: inputs states..., slices...,
//   captures...
//         attrs   n_carried, num_scan_inputs, axes and directions     outputs states..., scan
//         outputs...
#pragma once

#include "base/result.h"
#include "frontends/onnx/scope.h"

namespace tw::onnx {

bool is_control_node(const RawNode& node);

/// Converts the node and its bodies. A carried dim that the body changes becomes a new symbol in
/// the body.
Result<void> convert_control(Scope& scope, const RawNode& node, const ir::OpDef& op);

}  // namespace tw::onnx
