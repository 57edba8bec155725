// Random legal graphs: the passes keep what a graph means, running them again changes nothing, and
// the compiled program computes it, on threads and tile by tile with what each declares. Inputs are
// decisions of graph_make.h.
#include <algorithm>
#include <cstdio>

#include "backends/cpu/build/target.h"
#include "compiler/compile.h"
#include "graph_close.h"
#include "graph_make.h"
#include "ir/evaluate.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "runtime/engine.h"

namespace tw::fuzz {
namespace {

[[noreturn]] void fail_with(const ir::Graph& graph, const std::string& why) {
  fail(cat(why, "\n", ir::print(graph)));
}

/// The first pass after which the graph no longer means what it did, for the report.
std::string culprit(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                    const std::vector<Expected>& expected) {
  std::string found = "no pass alone";
  bool done = false;
  passes::PipelineOptions options;
  options.on_pass = [&](const char* pass, int, const ir::Graph& after) {
    const auto outputs = ir::evaluate_graph(after, inputs);
    if (done || (outputs.ok() && difference(outputs.value(), expected).empty())) return;
    done = true;
    found = pass;
  };
  ir::Graph copy = graph;
  static_cast<void>(passes::optimize(copy, options).ok());
  return found;
}

/// Nothing: some types and open sizes of some ops are not supported.
std::optional<ir::Graph> optimized(const ir::Graph& graph) {
  ir::Graph copy = graph;
  const auto done = passes::optimize(copy, {});
  if (!done.ok() && done.error().code == Code::kUnsupported) return std::nullopt;
  if (!done.ok()) fail_with(graph, done.error().message);
  return copy;
}

void check_passes(const ir::Graph& graph, const ir::Graph& once, const std::vector<Tensor>& inputs,
                  const std::vector<Expected>& expected) {
  const auto outputs = ir::evaluate_graph(once, inputs);
  const std::string why =
      outputs.ok() ? difference(outputs.value(), expected) : outputs.error().message;
  if (!why.empty())
    fail_with(graph, cat("after pass ", culprit(graph, inputs, expected), ": ", why));
  const std::string first = ir::print(once), second = ir::print(optimized(once).value());
  if (first != second)
    fail_with(graph, cat("passes run again change\n", first, "to\n", second, "from"));
}

/// Whether there is a program: some types of some ops have none.
bool check_program(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                   const std::vector<Expected>& expected) {
  auto plan = compiler::compile(graph, *cpu::make_target(cpu::best_isa(), true), {});
  if (!plan.ok() && plan.error().code == Code::kUnsupported) return false;
  if (!plan.ok()) fail_with(graph, cat("does not compile: ", plan.error().message));
  runtime::EngineOptions options;
  options.threads = 2;
  const auto engine = runtime::Engine::make(std::move(plan).take(), options);
  if (!engine.ok()) fail_with(graph, engine.error().message);
  for (const cpu::Order order : {cpu::Order::kSequence, cpu::Order::kChecked}) {
    runtime::Context context(engine.value());
    const auto outputs = context.run(inputs, {order, 1});
    const std::string why =
        outputs.ok() ? difference(outputs.value(), expected) : outputs.error().message;
    if (!why.empty()) fail_with(graph, cat("run: ", why));
  }
  return true;
}

}  // namespace

const char* const kName = "graph_fuzz";

size_t n_seeds() { return 1; }
Bytes make_seed(size_t) { return Bytes(256, '\0'); }

Bytes mutate(const Bytes&, const Bytes&, Random& random) {
  Bytes bytes(16 + below(random, 512), '\0');
  for (char& byte : bytes) byte = static_cast<char>(below(random, 256));
  return bytes;
}

std::string try_input(std::string_view input) {
  Choices choices(input);
  GraphMaker maker(choices);
  const size_t n_steps = 1 + choices.below(8);
  for (size_t i = 0; i < n_steps; ++i) choices.one_in(3) ? maker.add_pattern() : maker.add_case();
  if (!maker.finish()) return "empty";
  const auto legal = ir::verify(maker.graph);
  if (!legal.ok()) fail_with(maker.graph, cat("not legal: ", legal.error().message));
  const auto expected = evaluate_with_tolerance(maker.graph, maker.inputs);
  if (!expected.ok()) return "without a reference";  // data that an op refuses
  const auto once = optimized(maker.graph);
  if (!once) return "unsupported";
  check_passes(maker.graph, *once, maker.inputs, expected.value());
  if (!check_program(maker.graph, maker.inputs, expected.value())) return "passes only";
  const bool wild = std::any_of(expected.value().begin(), expected.value().end(),
                                [](const Expected& e) { return e.is_wild; });
  return wild ? "equal but for outputs that roundings decide" : "equal";
}

}  // namespace tw::fuzz
