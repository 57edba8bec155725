// compile_model.h: from a model file to a plan for this or another CPU: what the command line and
// the public API both do.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "api/shapes.h"
#include "backends/cpu/kernels/isa.h"
#include "plan/plan.h"

namespace tw::api {

struct ModelOptions {
  GivenShapes shapes;
  std::string paste;  // in front of "--shapes ..." in an error about open sizes
  std::function<void(std::string_view)> note;  // told what was assumed; may be empty
};

/// Of the arithmetic on f32 models; inputs and outputs keep their types.
enum class Precision : uint8_t {
  kFp32,
  kTf32,  // products of tensors round their operands to tf32
  kFp16,
  kBf16
};

struct BuildOptions {
  ModelOptions model;
  std::string target = "cpu";  // "cpu", "sm_90", or "auto": the GPU when there is one
  Precision precision = Precision::kFp32;
  std::string timing_cache;     // of a GPU target: a file that is read and added to; empty: none
  bool measure_tactics = true;  // of a GPU target, where there is a GPU
  int auxiliary_streams = 1;    // of a GPU target, up to 3: for branches, beside the main one
  std::optional<cpu::Isa> isa;  // nothing: the best of this machine
  bool portable = false;        // weights stay plain; the plan runs on every instruction set
  int workers = 1;              // more: tiles for this many workers
  std::set<std::string> skip_passes;
  std::function<void(const char* step, double fraction)> progress;  // may be empty
};

/// The graph of the ONNX file with its sizes settled.
Result<ir::Graph> load_graph(const std::string& path, const ModelOptions& options);

/// The plan of `graph`; `model_hash` stands in its contract.
Result<plan::Plan> compile_graph(ir::Graph graph, std::string model_hash,
                                 const BuildOptions& options);

/// load_graph, then compile_graph.
Result<plan::Plan> compile_model(const std::string& path, const BuildOptions& options);

/// "sse42" (also "v2"), "avx2" or "avx512".
std::optional<cpu::Isa> find_isa(std::string_view name);

/// "fp32", "tf32", "fp16" or "bf16".
std::optional<Precision> find_precision(std::string_view name);
std::string_view precision_name(Precision precision);

/// "xxh3:" and 16 hex digits, of the file's bytes.
Result<std::string> hash_file(const std::string& path);

}  // namespace tw::api
