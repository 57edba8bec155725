// docs/ops.md is printed from the op table. Without arguments the program checks that the page is
// what it would print;
// --update writes it.
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/cat.h"
#include "ir/op_def.h"

namespace tw {
namespace {

constexpr const char* kPage = TW_SOURCE_DIR "/docs/ops.md";

/// Text for a cell of a table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '_' || c == '<') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string attribute(const ir::AttrDef& attr) {
  if (const auto* i = std::get_if<int64_t>(&attr.fallback)) return cat(attr.name, " = ", *i);
  if (const auto* d = std::get_if<double>(&attr.fallback))
    return cat(attr.name, " = ", static_cast<float>(*d));
  if (const auto* s = std::get_if<std::string_view>(&attr.fallback))
    return cat(attr.name, " = \"", *s, "\"");
  return std::string(attr.name);
}

/// "Clip (6, 11)": the opsets from which on each form holds.
std::string onnx_names(const ir::OpDef& op) {
  std::vector<std::string> names;
  std::string_view last;
  for (const ir::OnnxName& entry : op.onnx) {
    if (entry.name == last) {
      names.back() += cat(", ", entry.since);
      continue;
    }
    if (!names.empty()) names.back() += ")";
    names.push_back(
        cat(entry.domain, entry.domain.empty() ? "" : "::", entry.name, " (", entry.since));
    last = entry.name;
  }
  if (!names.empty()) names.back() += ")";
  return join(names, "; ");
}

/// How the op runs, for a reader who looks for the code.
std::string_view runs_as(const ir::OpDef& op) {
  if (op.pointwise != nullptr) return "elementwise program";
  if (op.lower != nullptr) return "tasks of its own";
  return op.decompose != nullptr ? "other ops" : "host";
}

std::string print_page() {
  std::string page =
      "# Ops\n\n"
      "Printed from the op table by `ops_docs_test --update`; each op is one file, "
      "`src/ops/*/NAME.cpp`. `?` marks an optional "
      "input or output, `...` any number of them. An attribute with no default is absent unless "
      "given. The ONNX column names "
      "the operators that import as the op and the opsets from which each form is read.\n\n"
      "| op | meaning | inputs | outputs | attributes | ONNX | runs as "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const ir::OpDef* op : ir::op_table()) {
    std::vector<std::string> attrs;
    for (const ir::AttrDef& attr : op->attrs) attrs.push_back(attribute(attr));
    page += cat("| `", op->name, "` | ", cell(op->doc), " | ", cell(join(op->inputs, ", ")), " | ",
                cell(join(op->outputs, ", ")), " | ", cell(join(attrs, ", ")), " | ",
                cell(onnx_names(*op)), " | ", runs_as(*op), " |\n");
  }
  return page;
}

int check_page(const std::string& wanted) {
  std::ifstream file(kPage);
  std::stringstream found;
  found << file.rdbuf();
  if (found.str() == wanted) return 0;
  std::string line;
  std::stringstream lines(wanted);
  while (std::getline(lines, line))
    if (found.str().find(line) == std::string::npos) std::cerr << "missing: " << line << "\n";
  std::cerr
      << kPage
      << " differs from the op table; run this program with --update and read the difference\n";
  return 1;
}

}  // namespace
}  // namespace tw

int main(int argc, char** argv) {
  const std::string page = tw::print_page();
  if (argc < 2 || std::string_view(argv[1]) != "--update") return tw::check_page(page);
  std::ofstream file(tw::kPage);
  file << page;
  return file.good() ? 0 : 1;
}
