// The plan reader: any bytes come back as a plan or as a sentence, behind good checksums too; a
// plan that is accepted is instantiated for other sizes and runs, in every order, touching no
// memory but its own.
#include <optional>

#include "backends/cpu/core.h"
#include "driver.h"
#include "plan_bytes.h"
#include "plan_change.h"
#include "plan_seeds.h"
#include "runtime/engine.h"

namespace tw::fuzz {
namespace {

// What an accepted plan may ask for and still be run here.
constexpr int64_t kMaxElements = 1 << 16;
constexpr int64_t kMaxArena = 16 << 20;
constexpr double kMaxNs = 2e7;
constexpr int64_t kMaxIterations = 20;
constexpr int64_t kSizes[] = {3, 1, 0, 8, -1, INT64_MAX};
constexpr int64_t kRunSizes[] = {3, 1};

bool is_small(const task::Program& program) {
  double ns = 0;
  for (const task::Record& record : program.records)
    ns += static_cast<double>(cpu::estimate_ns(record, program.slots));
  return ns <= kMaxNs && program.arena_bytes <= kMaxArena;
}

/// Whether all programs are small at `size` for every symbol. Instances for other sizes are proved
/// like the first.
bool small_at(const plan::Plan& plan, int64_t size) {
  for (const task::Program& program : plan.programs) {
    const std::vector<int64_t> sizes(program.parametric.symbols.size(), size);
    const auto made = task::instantiate(program, sizes);
    if (!made.ok() && made.error().message.empty()) fail("an error without a sentence");
    if (made.ok() && !is_small(made.value())) return false;
  }
  return true;
}

void instantiate_all(const plan::Plan& plan) {
  for (const task::Program& program : plan.programs)
    for (const int64_t size : kSizes) {
      const std::vector<int64_t> sizes(program.parametric.symbols.size(), size);
      const auto made = task::instantiate(program, sizes);
      if (!made.ok()) continue;
      const auto proved = task::verify(made.value());
      if (!proved.ok()) fail(cat("an instance is not legal: ", proved.error().message));
    }
}

std::optional<std::vector<Tensor>> make_inputs(const plan::Procedure& main, int64_t size) {
  Random random(1);
  std::vector<Tensor> inputs;
  for (const plan::Port& port : main.inputs) {
    Dims dims;
    for (const Dim& dim : port.shape) dims.push_back(dim.known().value_or(size));
    const auto bytes = checked_bytes(port.dtype, dims);
    if (!bytes.ok() || bytes.value() > kMaxElements) return std::nullopt;
    auto tensor = Tensor::try_make(port.dtype, dims);
    if (!tensor.ok()) return std::nullopt;
    for (int64_t i = 0; i < tensor.value().count(); ++i)
      if (port.dtype == DType::kBool)
        tensor.value().set_int(i, static_cast<int64_t>(below(random, 2)));
      else if (is_float(port.dtype))
        tensor.value().set_float(i, static_cast<double>(below(random, 1000)) / 250 - 2);
      else
        tensor.value().set_int(i, static_cast<int64_t>(below(random, 5)) - 1);
    inputs.push_back(std::move(tensor).take());
  }
  return inputs;
}

/// Every byte of the outputs is there to be read.
void read_all(const std::vector<Tensor>& outputs) {
  unsigned sum = 0;
  for (const Tensor& tensor : outputs)
    for (int64_t i = 0; i < tensor.bytes(); ++i) sum += static_cast<unsigned>(tensor.data()[i]);
  volatile unsigned kept = sum;
  static_cast<void>(kept);
}

std::string run(const plan::Plan& plan) {
  runtime::EngineOptions options;
  options.threads = 2;
  const auto engine = runtime::Engine::make(plan, options);
  if (!engine.ok()) return "not for this machine";
  bool ran = false;
  for (const int64_t size : kRunSizes) {
    const auto inputs = make_inputs(plan.main, size);
    if (!inputs || !small_at(plan, size)) return "too large to run";
    for (const cpu::Order order :
         {cpu::Order::kSequence, cpu::Order::kQueues, cpu::Order::kRandom, cpu::Order::kChecked}) {
      runtime::Context context(engine.value());
      runtime::RunOptions run_options{order, 1};
      run_options.max_iterations = kMaxIterations;
      const auto outputs = context.run(*inputs, run_options);
      if (outputs.ok()) read_all(outputs.value());
      if (!outputs.ok() && outputs.error().code == Code::kInternal)
        fail(cat("a proved program fails: ", outputs.error().message));
      ran = ran || outputs.ok();
    }
  }
  return ran ? "ran" : "accepted, refused inputs";
}

std::string try_plan(std::string_view input) {
  const auto plan = plan_of(input, true);
  if (!plan.ok()) {
    if (plan.error().message.empty()) fail("an error without a sentence");
    return "refused";
  }
  for (const task::Program& program : plan.value().programs) task::print(program);
  instantiate_all(plan.value());
  return run(plan.value());
}

}  // namespace

const char* const kName = "plan_fuzz";

size_t n_seeds() { return n_plan_seeds(); }
Bytes make_seed(size_t i) { return make_plan_seed(i); }

Bytes mutate(const Bytes& input, const Bytes& other, Random& random) {
  const size_t n_changes = 1 + below(random, 3);
  auto plan = one_in(random, 4) ? Result<plan::Plan>(error(Code::kCorrupt, "bytes this time"))
                                : plan_of(input, false);
  if (!plan.ok()) {
    Bytes changed = input;
    for (size_t i = 0; i < n_changes; ++i) damage(changed, other, random);
    return changed;
  }
  plan::Plan& changed = plan.value();
  for (size_t i = 0; i < n_changes; ++i) {
    if (changed.programs.empty() || one_in(random, 4))
      change_procedure(changed.main, random);
    else
      change_program(changed.programs[below(random, changed.programs.size())], random);
  }
  return bytes_of(changed);
}

std::string try_input(std::string_view input) {
  std::string became = try_plan(input);
  const Bytes mended = with_checksums(Bytes(input));
  return mended == input ? became : cat(try_plan(mended), " behind checksums");
}

}  // namespace tw::fuzz
