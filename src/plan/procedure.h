// procedure.h: what the host does around programs. Most models are one Run step; sizes that only
// data can tell and control flow add the others. Registers hold whole row-major tensors between
// steps.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "task/program.h"

namespace tw::plan {

/// Index of a tensor register of one procedure.
using Register = uint32_t;
inline constexpr Register kNoRegister = 0xffffffffU;

struct Procedure;

/// Runs plan program `program`: inputs and outputs in the program's order.
struct RunStep {
  uint32_t program = 0;
  std::vector<Register> inputs, outputs;
};

/// Element i of the integer tensor in `source` becomes the value of symbols[i]; with from_dims, its
/// dimension i. An empty name skips.
struct BindStep {
  Register source = kNoRegister;
  std::vector<std::string> symbols;
  bool from_dims = false;
};

/// One of two bodies; both take `inputs` and give `outputs`.
struct IfStep {
  Register condition = kNoRegister;
  std::vector<Register> inputs, outputs;
  std::shared_ptr<const Procedure> then_body, else_body;
  std::string then_refusal,
      else_refusal;  // not empty: why that branch cannot run; taking it is an error
};

/// ONNX Loop: body(iteration i64, condition bool, carried..., captures...) -> (condition,
/// carried..., scanned...). `outputs` are the last carried values, then the scanned values stacked
/// on a new first axis.
struct LoopStep {
  Register trip_count = kNoRegister, condition = kNoRegister;  // each may be absent
  std::vector<Register> carried, captures, outputs;
  std::shared_ptr<const Procedure> body;
};

/// ONNX Scan, forward on axis 0: body(states..., slices..., captures...) -> (states..., slices...).
struct ScanStep {
  std::vector<Register> states, scanned, captures, outputs;
  std::shared_ptr<const Procedure> body;
};

using Step = std::variant<RunStep, BindStep, IfStep, LoopStep, ScanStep>;

/// A register that holds a constant of the plan's weights.
struct ConstantRegister {
  Register reg = kNoRegister;
  DType dtype = DType::kF32;
  Dims dims;
  int64_t offset_bytes = 0;
};

/// A name, type and symbolic shape of the procedure's signature.
struct Port {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<Dim> shape;
};

struct Procedure {
  uint32_t n_registers = 0;
  std::vector<Port> inputs, outputs;  // inputs stand in registers 0, 1, ..
  std::vector<Register> output_registers;
  std::vector<ConstantRegister> constants;
  std::vector<Step> steps;
};

}  // namespace tw::plan
