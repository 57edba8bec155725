// Every op case through the whole compiler on the CPU executor, against the op's reference: at its
// own sizes, with every size of its inputs open, tile by tile with what each declares, and on each
// instruction set that this machine has.
#include "backends/cpu/build/target.h"
#include "compiler/compile.h"
#include "op_cases.h"
#include "runtime/engine.h"

namespace tw::conformance {
namespace {

class EachExecutedCase : public testing::TestWithParam<CaseId> {};

Result<std::vector<Tensor>> run(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                                cpu::Isa isa, cpu::Order order, bool portable) {
  plan::Plan plan = TRY(compiler::compile(graph, *cpu::make_target(isa, portable), {}));
  runtime::EngineOptions options;
  options.threads = 2;
  options.isa = isa;
  runtime::Context context(TRY(runtime::Engine::make(std::move(plan), options)));
  return context.run(inputs, {order, 1});
}

void expect_reference(const CaseId& id, const ir::OpCase& c, const ir::Graph& graph, cpu::Isa isa,
                      cpu::Order order, bool portable) {
  const std::vector<Tensor> wanted = evaluate_or_fail(c);
  const auto found = run(graph, c.inputs, isa, order, portable);
  ASSERT_TRUE(found.ok()) << id.op->name << " \"" << id.text() << "\": " << found.error().message;
  ASSERT_EQ(found.value().size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    expect_close(found.value()[i], wanted[i], roundings_of_sums(c));
}

TEST_P(EachExecutedCase, GivesWhatItsReferenceGives) {
  const ir::OpCase c = make_or_fail(GetParam());
  for (const cpu::Isa isa : cpu::kAllIsas)
    if (cpu::isa_supported(isa))
      expect_reference(GetParam(), c, c.graph, isa, cpu::Order::kSequence, false);
}

TEST_P(EachExecutedCase, TouchesOnlyWhatItDeclares) {
  const ir::OpCase c = make_or_fail(GetParam());
  expect_reference(GetParam(), c, c.graph, cpu::best_isa(), cpu::Order::kChecked, true);
}

INSTANTIATE_TEST_SUITE_P(Ops, EachExecutedCase, testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace tw::conformance
