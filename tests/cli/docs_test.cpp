// docs/cli.md is what --help prints. `cli_docs_test --update` writes it.
#include <fstream>
#include <iostream>
#include <sstream>

#include "cli/commands.h"
#include "cli/overview.h"

namespace tw::cli {
namespace {

constexpr const char* kPage = TW_SOURCE_DIR "/docs/cli.md";

std::string block(const std::string& text) { return cat("```\n", text, "```\n"); }

std::string print_page() {
  std::string page = cat(
      "# The command line\n\nPrinted from the program's own help by `cli_docs_test --update`.\n\n",
      block(overview_text()));
  for (const Command* command : commands())
    page += cat("\n## ", command->name, "\n\n", block(help_text(*command)));
  return page;
}

int check_page(const std::string& wanted) {
  std::ifstream file(kPage);
  std::stringstream found;
  found << file.rdbuf();
  if (found.str() == wanted) return 0;
  std::cerr << kPage
            << " differs from --help; run this program with --update and read the difference\n";
  return 1;
}

}  // namespace
}  // namespace tw::cli

int main(int argc, char** argv) {
  const std::string page = tw::cli::print_page();
  if (argc < 2 || std::string_view(argv[1]) != "--update") return tw::cli::check_page(page);
  std::ofstream file(tw::cli::kPage);
  file << page;
  return file.good() ? 0 : 1;
}
