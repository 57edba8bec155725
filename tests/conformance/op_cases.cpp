#include "op_cases.h"

#include <cmath>

#include "ir/evaluate.h"

namespace tw::conformance {
namespace {

bool is_close(double found, double wanted, double relative) {
  if (std::isnan(wanted) || std::isnan(found)) return std::isnan(wanted) && std::isnan(found);
  if (std::isinf(wanted) || std::isinf(found)) return found == wanted;
  return std::fabs(found - wanted) <= relative * std::max(1.0, std::fabs(wanted));
}

}  // namespace

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return std::ldexp(1, -52);
    case DType::kF32:
      return std::ldexp(1, -23);
    case DType::kF16:
      return std::ldexp(1, -10);
    case DType::kBF16:
      return std::ldexp(1, -7);
    case DType::kF8E4M3:
      return std::ldexp(1, -3);
    case DType::kF8E5M2:
      return std::ldexp(1, -2);
    default:
      return 0;
  }
}

double roundings_of_sums(const ir::OpCase& c) {
  int64_t n_terms = 1;
  for (const Tensor* input : node_inputs(c))
    if (input != nullptr) n_terms = std::max(n_terms, input->count());
  return 8 + std::sqrt(static_cast<double>(n_terms));
}

void PrintTo(const CaseId& id, std::ostream* out) { *out << id.op->name << ": " << id.text(); }

std::vector<CaseId> all_cases() {
  std::vector<CaseId> cases;
  for (const ir::OpDef* op : ir::op_table())
    for (size_t i = 0; i < op->cases.size(); ++i) cases.push_back({op, i});
  return cases;
}

std::string case_name(const testing::TestParamInfo<CaseId>& info) {
  return cat(info.param.op->name, "_", info.param.index);
}

ir::OpCase make_or_fail(const CaseId& id) {
  auto made = ir::make_case(*id.op, id.text(), 1 + id.index);
  if (made.ok()) return std::move(made).take();
  ADD_FAILURE() << made.error().message;
  return {};
}

std::vector<const Tensor*> node_inputs(const ir::OpCase& c) {
  std::vector<const Tensor*> inputs;
  for (const ir::ValueId id : c.graph.nodes.front().inputs) {
    const Tensor* tensor = nullptr;
    if (id != ir::kNoValue && c.graph.value(id).constant) tensor = &*c.graph.value(id).constant;
    for (size_t i = 0; i < c.inputs.size(); ++i)
      if (c.graph.inputs[i] == id) tensor = &c.inputs[i];
    inputs.push_back(tensor);
  }
  return inputs;
}

std::vector<Tensor> evaluate_or_fail(const ir::OpCase& c, bool prefer_decomposition) {
  if (c.graph.nodes.empty()) return {};
  auto outputs = ir::evaluate_node(c.graph.nodes.front(), node_inputs(c), prefer_decomposition);
  if (outputs.ok()) return std::move(outputs).take();
  ADD_FAILURE() << outputs.error().message;
  return {};
}

void expect_close(const Tensor& found, const Tensor& wanted, double n_roundings) {
  ASSERT_EQ(found.type_text(), wanted.type_text());
  int n_shown = 0;
  for (int64_t i = 0; i < wanted.count() && n_shown < 5; ++i) {
    if (!is_float(wanted.dtype())) {
      EXPECT_EQ(found.int_at(i), wanted.int_at(i)) << "element " << i;
      n_shown += found.int_at(i) != wanted.int_at(i) ? 1 : 0;
    } else if (!is_close(found.float_at(i), wanted.float_at(i),
                         n_roundings * epsilon(wanted.dtype()))) {
      ADD_FAILURE() << "element " << i << " is " << found.float_at(i) << ", expected "
                    << wanted.float_at(i);
      ++n_shown;
    }
  }
}

bool takes_graphs(const ir::OpDef& op) {
  for (const ir::AttrDef& attr : op.attrs)
    if (attr.name.ends_with("body") || attr.name.ends_with("branch")) return true;
  return false;
}

}  // namespace tw::conformance
