// raw_model.h: an ONNX model as the file says it, freed from protobuf: plain structs with names in
// place of pointers. decode.h makes it, functions.h inlines its local functions, convert.h turns it
// into a graph.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/tensor.h"

namespace tw::onnx {

/// The newest opset of ai.onnx and the newest file format that this frontend was written against
/// (onnx 1.23), and the oldest of each that it reads.
inline constexpr int kNewestOpset = 28;
inline constexpr int kOldestOpset = 7;
inline constexpr int64_t kNewestIrVersion = 14;
inline constexpr int64_t kOldestIrVersion = 3;
/// Subgraphs inside subgraphs, and functions that call functions, at most this deep.
inline constexpr int kMaxNesting = 32;
/// A dimension of a tensor may have at most this many elements; no product of two passes 64 bits.
inline constexpr int64_t kMaxDimension = int64_t{1} << 40;

struct RawGraph;

/// An attribute of a kind that no op takes; becomes an error when it is used.
struct UnsupportedAttr {
  std::string kind;  // "sparse_tensor"
};

struct RawAttr {
  std::string name;
  std::string reference;  // in a function's body: the value is the caller's attribute of this name
  std::variant<std::monostate, int64_t, double, std::string, std::vector<int64_t>,
               std::vector<double>, std::vector<std::string>, Tensor, std::shared_ptr<RawGraph>,
               UnsupportedAttr>
      value;
};

struct RawNode {
  std::string name;  // never empty: made up from operator and place when the file gives none
  std::string op_type;
  std::string domain;  // "" is ai.onnx
  std::string overload;
  int opset = 0;                     // of `domain` where the node stands; 0: not imported there
  std::vector<std::string> inputs;   // "" is an absent optional input
  std::vector<std::string> outputs;  // "" is an output nobody wants
  std::vector<RawAttr> attrs;
};

struct RawDim {
  std::optional<int64_t> size;
  std::string symbol;  // empty: unnamed
};

struct RawInput {
  std::string name;
  std::optional<DType> dtype;                // absent in most subgraphs
  std::optional<std::vector<RawDim>> shape;  // absent: not even the rank is known
};

struct RawGraph {
  std::string name;
  std::vector<RawNode> nodes;  // in the file's order, which may be wrong
  std::map<std::string, Tensor> initialisers;
  std::vector<RawInput> inputs;
  std::vector<std::string> outputs;
};

/// Domain, name and overload.
using FunctionKey = std::tuple<std::string, std::string, std::string>;

struct RawFunction {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<RawAttr> defaults;  // values of attributes that a call may leave out
  std::vector<RawNode> nodes;
};

struct RawModel {
  RawGraph graph;
  std::map<FunctionKey, RawFunction> functions;
  std::vector<std::string> notes;  // what was accepted though it is unusual
};

/// Text of the file for an error message: control characters escaped, cut to a readable length.
std::string printable(std::string_view text);
/// The same between quotes.
std::string in_quotes(std::string_view name);
/// "node 'add_3' (Add, ai.onnx 13)".
std::string describe(const RawNode& node);
/// "ai.onnx" for "".
std::string domain_name(std::string_view domain);

const RawAttr* find_attr(const RawNode& node, std::string_view name);

}  // namespace tw::onnx
