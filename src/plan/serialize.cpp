#include "plan/serialize.h"

#include <algorithm>
#include <optional>

#include "task/happens_before.h"
#include "task/variants.h"

namespace tw::plan {
namespace {

constexpr int kMaxDepth = 16;  // bodies inside bodies

void put_registers(ByteWriter& out, const std::vector<Register>& list) {
  out.put_array<Register>(list);
}

void put_dims(ByteWriter& out, const std::vector<Dim>& shape) {
  out.put(static_cast<uint32_t>(shape.size()));
  for (const Dim& dim : shape) out.put_text(to_string(dim));
}

Result<std::vector<Dim>> get_dims(ByteReader& in) {
  std::vector<Dim> shape;
  const uint32_t n = TRY(in.get_count(4));
  for (uint32_t i = 0; i < n; ++i) shape.push_back(TRY(parse_dim(TRY(in.get_text()))));
  return shape;
}

void put_port(ByteWriter& out, const Port& port) {
  out.put_text(port.name);
  out.put(port.dtype);
  put_dims(out, port.shape);
}

Result<Port> get_port(ByteReader& in) {
  Port port;
  port.name = TRY(in.get_text());
  port.dtype = TRY(in.get<DType>());
  if (static_cast<int>(port.dtype) >= kDTypeCount)
    return error(Code::kCorrupt, "'", port.name, "' has an unknown type");
  port.shape = TRY(get_dims(in));
  if (port.shape.size() > kMaxRank)
    return error(Code::kCorrupt, "'", port.name, "' has rank ", port.shape.size());
  return port;
}

void put_texts(ByteWriter& out, const std::vector<std::string>& texts) {
  out.put(static_cast<uint32_t>(texts.size()));
  for (const std::string& text : texts) out.put_text(text);
}

Result<std::vector<std::string>> get_texts(ByteReader& in) {
  std::vector<std::string> texts;
  const uint32_t n = TRY(in.get_count(4));
  for (uint32_t i = 0; i < n; ++i) texts.push_back(TRY(in.get_text()));
  return texts;
}

struct StepWriter {
  ByteWriter& out;
  void operator()(const RunStep& s) const {
    out.put(s.program);
    put_registers(out, s.inputs);
    put_registers(out, s.outputs);
  }
  void operator()(const BindStep& s) const {
    out.put(s.source);
    out.put(static_cast<uint8_t>(s.from_dims));
    put_texts(out, s.symbols);
  }
  void operator()(const IfStep& s) const {
    out.put(s.condition);
    put_registers(out, s.inputs);
    put_registers(out, s.outputs);
    put_procedure(out, *s.then_body);
    put_procedure(out, *s.else_body);
    out.put_text(s.then_refusal);
    out.put_text(s.else_refusal);
  }
  void operator()(const LoopStep& s) const {
    out.put(s.trip_count);
    out.put(s.condition);
    for (const auto* list : {&s.carried, &s.captures, &s.outputs}) put_registers(out, *list);
    put_procedure(out, *s.body);
  }
  void operator()(const ScanStep& s) const {
    for (const auto* list : {&s.states, &s.scanned, &s.captures, &s.outputs})
      put_registers(out, *list);
    put_procedure(out, *s.body);
  }
};

Result<std::shared_ptr<const Procedure>> get_body(ByteReader& in, int depth) {
  return std::make_shared<const Procedure>(TRY(get_procedure(in, depth + 1)));
}

Result<Step> get_step(ByteReader& in, int depth) {
  const auto kind = TRY(in.get<uint8_t>());
  switch (kind) {
    case 0: {
      RunStep s;
      s.program = TRY(in.get<uint32_t>());
      s.inputs = TRY(in.get_array<Register>());
      s.outputs = TRY(in.get_array<Register>());
      return Step(std::move(s));
    }
    case 1: {
      BindStep s;
      s.source = TRY(in.get<Register>());
      s.from_dims = TRY(in.get<uint8_t>()) != 0;
      s.symbols = TRY(get_texts(in));
      return Step(std::move(s));
    }
    case 2: {
      IfStep s;
      s.condition = TRY(in.get<Register>());
      s.inputs = TRY(in.get_array<Register>());
      s.outputs = TRY(in.get_array<Register>());
      s.then_body = TRY(get_body(in, depth));
      s.else_body = TRY(get_body(in, depth));
      s.then_refusal = TRY(in.get_text());
      s.else_refusal = TRY(in.get_text());
      return Step(std::move(s));
    }
    case 3: {
      LoopStep s;
      s.trip_count = TRY(in.get<Register>());
      s.condition = TRY(in.get<Register>());
      for (auto* list : {&s.carried, &s.captures, &s.outputs})
        *list = TRY(in.get_array<Register>());
      s.body = TRY(get_body(in, depth));
      return Step(std::move(s));
    }
    case 4: {
      ScanStep s;
      for (auto* list : {&s.states, &s.scanned, &s.captures, &s.outputs})
        *list = TRY(in.get_array<Register>());
      s.body = TRY(get_body(in, depth));
      return Step(std::move(s));
    }
    default:
      return error(Code::kCorrupt, "unknown step ", kind);
  }
}

void put_program(ByteWriter& out, const task::Program& program) {
  out.put(program.n_counters);
  out.put(program.arena_bytes);
  out.put_array<task::SlotInfo>(program.slots);
  out.align(64);
  out.put_array<task::Record>(program.records);
  out.put_array<task::Queue>(program.queues);
  out.put_array<std::byte>(program.side);
  out.put_array<task::SlotId>(program.inputs);
  out.put_array<task::SlotId>(program.outputs);
  put_texts(out, program.parametric.symbols);
  out.put_array<int64_t>(program.parametric.sample);
  put_dims(out, program.parametric.expressions.dims());
  out.put_array<task::Patch>(program.parametric.patches);
  out.put_array<task::VariantRange>(program.parametric.variants);
}

Result<void> check_symbols(const task::Parametric& table, const Dim& expression) {
  std::optional<std::string> unknown;
  expression.for_each_symbol([&](const std::string& name) {
    if (std::find(table.symbols.begin(), table.symbols.end(), name) == table.symbols.end())
      unknown = name;
  });
  if (!unknown) return {};
  return error(Code::kCorrupt, "found symbol '", *unknown, "', expected one of [",
               join(table.symbols, ","), "]");
}

Result<void> check_patch(const task::Program& program, const task::Patch& patch) {
  const task::Parametric& table = program.parametric;
  if (task::index(patch.slot) >= program.slots.size())
    return error(Code::kCorrupt, "names slot ", task::index(patch.slot), ", expected below ",
                 program.slots.size());
  if (patch.expression >= table.expressions.size())
    return error(Code::kCorrupt, "names expression ", patch.expression, ", expected below ",
                 table.expressions.size());
  if (patch.dim >= kMaxRank || patch.field > task::Patch::Field::kStorageBytes)
    return error(Code::kCorrupt, "names field ", static_cast<int>(patch.field), " of dim ",
                 static_cast<int>(patch.dim), ", which no slot has");
  // Weights lie where the plan stores them, whatever the sizes; check_plan looks at that once.
  const task::SlotInfo& slot = program.slot(patch.slot);
  if (slot.space == task::Space::kWeight && !slot.is_view())
    return error(Code::kCorrupt, "changes slot ", task::index(patch.slot),
                 ", a weight, expected none that does");
  return {};
}

Result<void> check_parametric(const task::Program& program) {
  const task::Parametric& table = program.parametric;
  if (table.symbols.size() != table.sample.size())
    return error(Code::kCorrupt, table.symbols.size(), " symbols with ", table.sample.size(),
                 " sample sizes");
  if (!table.symbols.empty() && program.queues.empty())
    return error(Code::kCorrupt, "found no queue for a program of ", table.symbols.size(),
                 " symbols, expected at least 1");
  for (size_t i = 0; i < table.expressions.size(); ++i)
    TRY(check_symbols(table, table.expressions[i]).in(cat("expression ", i)));
  for (size_t i = 0; i < table.patches.size(); ++i)
    TRY(check_patch(program, table.patches[i]).in(cat("patch ", i)));
  for (const auto* list : {&program.inputs, &program.outputs})
    for (const task::SlotId id : *list)
      if (task::index(id) >= program.slots.size())
        return error(Code::kCorrupt, "the signature names slot ", task::index(id), " of ",
                     program.slots.size());
  return {};
}

Result<task::Program> get_program(ByteReader& in) {
  task::Program program;
  program.n_counters = TRY(in.get<uint32_t>());
  program.arena_bytes = TRY(in.get<int64_t>());
  program.slots = TRY(in.get_array<task::SlotInfo>());
  TRY(in.align(64));
  program.records = TRY(in.get_array<task::Record>());
  program.queues = TRY(in.get_array<task::Queue>());
  program.side = TRY(in.get_array<std::byte>());
  program.inputs = TRY(in.get_array<task::SlotId>());
  program.outputs = TRY(in.get_array<task::SlotId>());
  program.parametric.symbols = TRY(get_texts(in));
  program.parametric.sample = TRY(in.get_array<int64_t>());
  program.parametric.expressions = DimTable(TRY(get_dims(in)), program.parametric.symbols);
  program.parametric.patches = TRY(in.get_array<task::Patch>());
  program.parametric.variants = TRY(in.get_array<task::VariantRange>());
  if (program.n_counters > program.records.size())
    return error(Code::kCorrupt, program.n_counters, " counters for ", program.records.size(),
                 " tasks");
  TRY(check_parametric(program));
  TRY(task::check_ranges(program, task::seq_order(program)));
  return program;
}

}  // namespace

void put_hsd(ByteWriter& out, const std::vector<task::Program>& programs) {
  for (const char c : kHsdMagic) out.put(c);
  out.put(kKernelAbi);
  out.put(static_cast<uint32_t>(programs.size()));
  for (const task::Program& program : programs) {
    out.align(64);
    put_program(out, program);
  }
}

Result<std::vector<task::Program>> get_hsd(ByteReader& in) {
  for (const char c : kHsdMagic)
    if (TRY(in.get<char>()) != c)
      return error(Code::kCorrupt, "does not open with ", std::string_view(kHsdMagic));
  const uint32_t abi = TRY(in.get<uint32_t>());
  if (abi != kKernelAbi)
    return error(Code::kIncompatible, "task records are of version ", abi, ", expected ",
                 kKernelAbi);
  std::vector<task::Program> programs;
  const uint32_t n = TRY(in.get_count(16));
  for (uint32_t i = 0; i < n; ++i) {
    TRY(in.align(64));
    programs.push_back(TRY(get_program(in).in(cat("program ", i))));
  }
  return programs;
}

void put_procedure(ByteWriter& out, const Procedure& procedure) {
  out.put(procedure.n_registers);
  for (const auto* ports : {&procedure.inputs, &procedure.outputs}) {
    out.put(static_cast<uint32_t>(ports->size()));
    for (const Port& port : *ports) put_port(out, port);
  }
  put_registers(out, procedure.output_registers);
  out.put(static_cast<uint32_t>(procedure.constants.size()));
  for (const ConstantRegister& constant : procedure.constants) {
    out.put(constant.reg);
    out.put(constant.dtype);
    out.put_array<int64_t>({constant.dims.data(), constant.dims.size()});
    out.put(constant.offset_bytes);
  }
  out.put(static_cast<uint32_t>(procedure.steps.size()));
  for (const Step& step : procedure.steps) {
    out.put(static_cast<uint8_t>(step.index()));
    std::visit(StepWriter{out}, step);
  }
}

Result<Procedure> get_procedure(ByteReader& in, int depth) {
  if (depth > kMaxDepth) return error(Code::kCorrupt, "bodies are nested deeper than ", kMaxDepth);
  Procedure procedure;
  procedure.n_registers = TRY(in.get<uint32_t>());
  for (auto* ports : {&procedure.inputs, &procedure.outputs}) {
    const uint32_t n = TRY(in.get_count(9));
    for (uint32_t i = 0; i < n; ++i) ports->push_back(TRY(get_port(in)));
  }
  procedure.output_registers = TRY(in.get_array<Register>());
  const uint32_t n_constants = TRY(in.get_count(16));
  for (uint32_t i = 0; i < n_constants; ++i) {
    ConstantRegister constant;
    constant.reg = TRY(in.get<Register>());
    constant.dtype = TRY(in.get<DType>());
    const std::vector<int64_t> dims = TRY(in.get_array<int64_t>());
    if (dims.size() > kMaxRank || static_cast<int>(constant.dtype) >= kDTypeCount)
      return error(Code::kCorrupt, "constant of rank ", dims.size());
    for (const int64_t dim : dims) constant.dims.push_back(dim);
    constant.offset_bytes = TRY(in.get<int64_t>());
    procedure.constants.push_back(constant);
  }
  const uint32_t n_steps = TRY(in.get_count(5));
  for (uint32_t i = 0; i < n_steps; ++i)
    procedure.steps.push_back(TRY(get_step(in, depth).in(cat("step ", i))));
  return procedure;
}

void put_names(ByteWriter& out, const Plan& plan) {
  put_texts(out, plan.program_names);
  out.put(static_cast<uint32_t>(plan.programs.size()));
  for (const task::Program& program : plan.programs) {
    put_texts(out, program.slot_names.list());
    put_texts(out, program.op_names.list());
  }
  put_texts(out, plan.reports);
}

Result<void> get_names(ByteReader& in, Plan& plan) {
  plan.program_names = TRY(get_texts(in));
  const uint32_t n = TRY(in.get_count(8));
  for (uint32_t i = 0; i < n && i < plan.programs.size(); ++i) {
    plan.programs[i].slot_names = TRY(get_texts(in));
    plan.programs[i].op_names = TRY(get_texts(in));
  }
  plan.reports = TRY(get_texts(in));
  return {};
}

void put_kernels(ByteWriter& out, const std::vector<Kernel>& kernels) {
  out.put(static_cast<uint32_t>(kernels.size()));
  for (const Kernel& kernel : kernels) {
    out.put_text(kernel.source);
    out.put_array(std::span(kernel.code));
  }
}

Result<std::vector<Kernel>> get_kernels(ByteReader& in) {
  std::vector<Kernel> kernels;
  const uint32_t n = TRY(in.get_count(8));
  for (uint32_t i = 0; i < n; ++i) {
    Kernel kernel;
    kernel.source = TRY(in.get_text());
    kernel.code = TRY(in.get_array<std::byte>());
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

void put_contract(ByteWriter& out, const Contract& contract) {
  out.put(static_cast<uint32_t>(contract.size()));
  for (const auto& [key, value] : contract) {
    out.put_text(key);
    out.put_text(value);
  }
}

Result<Contract> get_contract(ByteReader& in) {
  Contract contract;
  const uint32_t n = TRY(in.get_count(8));
  for (uint32_t i = 0; i < n; ++i) {
    std::string key = TRY(in.get_text());
    contract.emplace_back(std::move(key), TRY(in.get_text()));
  }
  return contract;
}

}  // namespace tw::plan
