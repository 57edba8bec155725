#include "runtime/procedure_run.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/address_table.h"

namespace tw::runtime {
namespace {

/// Sizes that a procedure's inputs show as bare symbols.
void bind_inputs(const plan::Procedure& procedure, const std::vector<Tensor>& inputs,
                 Symbols& symbols) {
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t d = 0; d < procedure.inputs[i].shape.size() && d < inputs[i].dims().size(); ++d)
      if (const auto symbol = procedure.inputs[i].shape[d].as_symbol()) {
        std::erase_if(symbols, [&](const auto& known) { return known.first == *symbol; });
        symbols.emplace_back(*symbol, inputs[i].dims()[d]);
      }
}

std::vector<Tensor> pick(const std::vector<Tensor>& registers,
                         const std::vector<plan::Register>& list) {
  std::vector<Tensor> tensors;
  for (const plan::Register reg : list) tensors.push_back(registers[reg]);
  return tensors;
}

void put(std::vector<Tensor>& registers, const std::vector<plan::Register>& list,
         std::vector<Tensor> tensors) {
  for (size_t i = 0; i < list.size(); ++i) registers[list[i]] = std::move(tensors[i]);
}

Tensor scalar(DType dtype, int64_t value) {
  auto made = Tensor::try_make(dtype, Dims{});
  CHECK(made.ok(), "one element fits in memory");
  Tensor tensor = std::move(made).take();
  tensor.set_int(0, value);
  return tensor;
}

/// Tensors of equal type stacked on a new first axis; `none` gives type and shape when there are no
/// items.
Result<Tensor> stack(const std::vector<Tensor>& items, const plan::Port& none) {
  Dims dims{static_cast<int64_t>(items.size())};
  const size_t rank = items.empty() ? none.shape.size() : items[0].dims().size();
  if (rank + 1 > kMaxRank)
    return error(Code::kInvalidArgument, "values of rank ", rank, " cannot be stacked");
  if (items.empty()) {
    for (const Dim& dim : none.shape) dims.push_back(dim.known().value_or(0));
    return Tensor::try_make(none.dtype, dims);
  }
  for (const int64_t dim : items[0].dims()) dims.push_back(dim);
  Tensor stacked = TRY(Tensor::try_make(items[0].dtype(), dims));
  for (size_t i = 0; i < items.size(); ++i) {
    if (!(items[i].dims() == items[0].dims()))
      return error(Code::kInvalidArgument, "iteration ", i, " gives ", items[i].type_text(),
                   ", the first gave ", items[0].type_text());
    std::copy_n(items[i].data(), items[i].bytes(),
                stacked.mutable_data() + static_cast<int64_t>(i) * items[i].bytes());
  }
  return stacked;
}

/// The number in a tensor of one element.
Result<int64_t> number(const Tensor& tensor, std::string_view what) {
  if (tensor.count() != 1)
    return error(Code::kInvalidArgument, what, " is ", tensor.type_text(),
                 ", expected one element");
  return tensor.int_at(0);
}

Tensor slice(const Tensor& tensor, int64_t i) {
  Dims dims;
  for (size_t d = 1; d < tensor.dims().size(); ++d) dims.push_back(tensor.dims()[d]);
  const int64_t bytes = element_count(dims) * size_bytes(tensor.dtype());
  return Tensor::view(tensor.dtype(), dims, tensor.data() + i * bytes,
                      std::make_shared<Tensor>(tensor));
}

}  // namespace

Result<std::byte*> ProcedureRun::arena(int64_t bytes) {
  if (context_.arena_bytes() < bytes)
    context_.arena_ = TRY(Tensor::try_make(DType::kU8, Dims{bytes}).in("arena"));
  return context_.arena_.mutable_data();
}

Result<void> ProcedureRun::step(const plan::RunStep& step, Frame& frame) {
  const Engine& engine = context_.engine();
  std::vector<Dims> dims;
  for (const plan::Register reg : step.inputs) dims.push_back(frame.registers[reg].dims());
  Context::Cached& cached = context_.cached_[step.program];
  if (!cached.instance || !(cached.input_dims == dims) || cached.symbols != frame.symbols) {
    const std::vector<int64_t> values =
        TRY(task::bind_symbols(engine.plan().programs[step.program], dims, frame.symbols));
    cached.instance = TRY(engine.instance(step.program, values));
    cached.input_dims = std::move(dims);
    cached.symbols = frame.symbols;
  }
  const Instance& instance = *cached.instance;
  std::vector<Tensor> inputs = pick(frame.registers, step.inputs), outputs;
  for (const task::SlotId id : instance.program.outputs)
    outputs.push_back(
        TRY(Tensor::try_make(instance.program.slot(id).dtype, instance.program.slot(id).shape())));
  if (instance.on_device != nullptr)
    TRY(run_on_device(instance, inputs, outputs));
  else
    TRY(run_on_host(instance, inputs, outputs));
  put(frame.registers, step.outputs, std::move(outputs));
  return {};
}

Result<void> ProcedureRun::run_on_host(const Instance& instance, const std::vector<Tensor>& inputs,
                                       std::vector<Tensor>& outputs) {
  std::vector<cpu::BoundSlot> bound;
  for (size_t i = 0; i < inputs.size(); ++i)
    bound.push_back({instance.program.inputs[i], const_cast<std::byte*>(inputs[i].data())});
  for (size_t i = 0; i < outputs.size(); ++i)
    bound.push_back({instance.program.outputs[i], outputs[i].mutable_data()});
  cpu::Bindings bindings;
  bindings.arena = TRY(arena(instance.program.arena_bytes));
  bindings.weights = const_cast<std::byte*>(context_.engine().plan().weights.data());
  bindings.bound = bound;
  const std::vector<std::byte*> addresses = TRY(cpu::relocate(instance.program, bindings));
  cpu::RunOptions options;
  options.order = options_.order;
  options.seed = options_.seed;
  options.arena = bindings.arena;
  return instance.executor->run(addresses, context_.workspace_, options);
}

Result<void> ProcedureRun::run_on_device(const Instance& instance,
                                         const std::vector<Tensor>& inputs,
                                         std::vector<Tensor>& outputs) {
  if (options_.order != cpu::Order::kSequence)
    return error(Code::kUnsupported, "random orders and checked mode are the CPU executor's");
  const Engine& engine = context_.engine();
  if (context_.session_ == nullptr) context_.session_ = TRY(engine.device()->make_session());
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (const Tensor& tensor : inputs) in.push_back(tensor.data());
  for (Tensor& tensor : outputs) out.push_back(tensor.mutable_data());
  const auto on_host = [&](std::span<std::byte* const> addresses, uint32_t first, uint32_t last) {
    // Weights are on both sides; the host reads its own.
    std::vector<std::byte*> all(addresses.begin(), addresses.end());
    cpu::Bindings weights;
    weights.weights = const_cast<std::byte*>(engine.plan().weights.data());
    const std::vector<std::byte*> of_weights = cpu::partial_addresses(instance.program, weights);
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i] == nullptr) all[i] = of_weights[i];
    return cpu::run_records(*instance.executor, first, last, all, context_.workspace_);
  };
  return context_.session_->run(*instance.on_device, in, out, on_host);
}

Result<void> ProcedureRun::step(const plan::BindStep& step, Frame& frame) {
  const Tensor& source = frame.registers[step.source];
  for (size_t i = 0; i < step.symbols.size(); ++i) {
    if (step.symbols[i].empty()) continue;
    const int64_t limit = step.from_dims ? source.rank() : source.count();
    if (static_cast<int64_t>(i) >= limit)
      return error(Code::kInvalidArgument, "'", step.symbols[i], "' has no source in ",
                   source.type_text());
    const int64_t value =
        step.from_dims ? source.dims()[i] : source.int_at(static_cast<int64_t>(i));
    if (value < 0)
      return error(Code::kInvalidArgument, "a size becomes ", value, ", expected at least 0");
    std::erase_if(frame.symbols, [&](const auto& known) { return known.first == step.symbols[i]; });
    frame.symbols.emplace_back(step.symbols[i], value);
  }
  return {};
}

Result<void> ProcedureRun::step(const plan::IfStep& step, Frame& frame) {
  const bool taken = TRY(number(frame.registers[step.condition], "a condition")) != 0;
  const std::string& refusal = taken ? step.then_refusal : step.else_refusal;
  if (!refusal.empty())
    return error(Code::kInvalidArgument, "the model's ", taken ? "then" : "else",
                 " branch cannot run with these shapes: ", refusal);
  const plan::Procedure& body = taken ? *step.then_body : *step.else_body;
  put(frame.registers, step.outputs,
      TRY(run(body, pick(frame.registers, step.inputs), frame.symbols)));
  return {};
}

Result<void> ProcedureRun::step(const plan::LoopStep& step, Frame& frame) {
  const int64_t trips = step.trip_count == plan::kNoRegister
                            ? std::numeric_limits<int64_t>::max()
                            : TRY(number(frame.registers[step.trip_count], "a trip count"));
  bool goes_on = step.condition == plan::kNoRegister ||
                 TRY(number(frame.registers[step.condition], "a condition")) != 0;
  std::vector<Tensor> carried = pick(frame.registers, step.carried);
  const std::vector<Tensor> captures = pick(frame.registers, step.captures);
  std::vector<std::vector<Tensor>> scanned(step.outputs.size() - carried.size());
  for (int64_t i = 0; i < trips && goes_on; ++i) {
    if (i == options_.max_iterations)
      return error(Code::kCancelled, "a loop goes on after ", i, " iterations, the most allowed");
    std::vector<Tensor> inputs{scalar(DType::kI64, i), scalar(DType::kBool, 1)};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    inputs.insert(inputs.end(), captures.begin(), captures.end());
    std::vector<Tensor> outputs =
        TRY(run(*step.body, std::move(inputs), frame.symbols).in(cat("iteration ", i)));
    goes_on = TRY(number(outputs[0], "a condition")) != 0;
    for (size_t c = 0; c < carried.size(); ++c) carried[c] = std::move(outputs[1 + c]);
    for (size_t s = 0; s < scanned.size(); ++s)
      scanned[s].push_back(std::move(outputs[1 + carried.size() + s]));
  }
  for (size_t s = 0; s < scanned.size(); ++s)
    carried.push_back(TRY(stack(scanned[s], step.body->outputs[1 + step.carried.size() + s])));
  put(frame.registers, step.outputs, std::move(carried));
  return {};
}

Result<void> ProcedureRun::step(const plan::ScanStep& step, Frame& frame) {
  std::vector<Tensor> states = pick(frame.registers, step.states);
  const std::vector<Tensor> sources = pick(frame.registers, step.scanned),
                            captures = pick(frame.registers, step.captures);
  std::vector<std::vector<Tensor>> scanned(step.outputs.size() - states.size());
  for (const Tensor& source : sources)
    if (source.rank() < 1 || source.dims()[0] != sources[0].dims()[0])
      return error(Code::kInvalidArgument, "scanned values are ", source.type_text(), " and ",
                   sources[0].type_text(), ", expected equal first dims");
  for (int64_t i = 0; i < sources[0].dims()[0]; ++i) {
    std::vector<Tensor> inputs = states;
    for (const Tensor& source : sources) inputs.push_back(slice(source, i));
    inputs.insert(inputs.end(), captures.begin(), captures.end());
    std::vector<Tensor> outputs =
        TRY(run(*step.body, std::move(inputs), frame.symbols).in(cat("iteration ", i)));
    for (size_t c = 0; c < states.size(); ++c) states[c] = std::move(outputs[c]);
    for (size_t s = 0; s < scanned.size(); ++s)
      scanned[s].push_back(std::move(outputs[states.size() + s]));
  }
  for (size_t s = 0; s < scanned.size(); ++s)
    states.push_back(TRY(stack(scanned[s], step.body->outputs[step.states.size() + s])));
  put(frame.registers, step.outputs, std::move(states));
  return {};
}

Result<std::vector<Tensor>> ProcedureRun::run(const plan::Procedure& procedure,
                                              std::vector<Tensor> inputs, Symbols symbols) {
  bind_inputs(procedure, inputs, symbols);
  Frame frame{std::move(inputs), std::move(symbols)};
  frame.registers.resize(procedure.n_registers);
  const plan::Plan& plan = context_.engine().plan();
  for (const plan::ConstantRegister& constant : procedure.constants)
    frame.registers[constant.reg] =
        Tensor::view(constant.dtype, constant.dims, plan.weights.data() + constant.offset_bytes,
                     plan.weights_owner);
  for (const plan::Step& one : procedure.steps)
    TRY(std::visit([&](const auto& s) { return step(s, frame); }, one));
  return pick(frame.registers, procedure.output_registers);
}

Result<std::vector<Tensor>> Context::run(const std::vector<Tensor>& inputs,
                                         const RunOptions& options) {
  if (running_.exchange(true))
    return error(Code::kInvalidArgument,
                 "the context is in use by another call; make one a thread");
  const auto finish = [this](int*) { running_ = false; };
  int token = 0;
  const std::unique_ptr<int, decltype(finish)> guard(&token, finish);
  const plan::Procedure& main = engine_->plan().main;
  if (inputs.size() != main.inputs.size())
    return error(Code::kInvalidArgument, "found ", inputs.size(), " inputs, expected ",
                 main.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const plan::Port& port = main.inputs[i];
    const auto fail = [&] {
      return error(Code::kInvalidArgument, "input '", port.name, "' is ", inputs[i].type_text(),
                   ", expected ", port.dtype, "[", join(port.shape, ","), "]");
    };
    if (inputs[i].dtype() != port.dtype || inputs[i].dims().size() != port.shape.size())
      return fail();
    for (size_t d = 0; d < port.shape.size(); ++d)
      if (port.shape[d].is_constant() && port.shape[d].constant() != inputs[i].dims()[d])
        return fail();
  }
  return ProcedureRun(*this, options).run(main, inputs, {});
}

}  // namespace tw::runtime
