// plan.h: a compiled model: the programs, the procedure around them, the weights, and the contract
// that says where it may run.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "plan/procedure.h"

namespace tw::plan {

inline constexpr uint32_t kFormatVersion = 2;
/// Grows when a task kind's meaning or a record's bytes change; a plan of another number is
/// refused.
inline constexpr uint32_t kKernelAbi = 1;
inline constexpr char kHsdMagic[] = "HSD_MAGIC_HEADER_V2";

/// What the plan was made for and with, as ordered (key, value) pairs; docs/plan-format.md lists
/// the keys.
using Contract = std::vector<std::pair<std::string, std::string>>;
/// The value of `key`, or "".
std::string_view contract_value(const Contract& contract, std::string_view key);

/// Machine code of a device kernel, known by the text that it was compiled from.
struct Kernel {
  std::string source;
  std::vector<std::byte> code;
};

struct Plan {
  Contract contract;
  Procedure main;
  std::vector<task::Program> programs;
  std::vector<std::string> program_names;
  std::vector<Kernel> kernels;
  std::span<const std::byte> weights;  // 64-byte aligned
  std::vector<std::string> reports;    // what declined and why: one sentence a line (`explain`)
  std::shared_ptr<const void> weights_owner;  // keeps `weights` alive
};

/// Bytes of each section as stored, in file order.
struct SectionSize {
  std::string name;
  int64_t bytes = 0;
};

/// Writes crash-safely; returns the size of the file. Equal plans give equal bytes.
Result<int64_t> write_plan(const Plan& plan, const std::string& path);
/// Maps the file, checks magic, version, sizes and every checksum. `verify_programs` also proves
/// every program (the default for everything that will run). Weights stay in the mapping.
Result<Plan> read_plan(const std::string& path, bool verify_programs = true);
Result<std::vector<SectionSize>> plan_sections(const std::string& path);
/// True when the file opens with a plan's magic.
bool looks_like_plan(const std::string& path);

}  // namespace tw::plan
