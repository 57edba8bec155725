#include "golden_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "base/cat.h"

namespace tw::goldens {
namespace {

bool is_updating = false;

std::string first_difference(const std::string& found, const std::string& expected) {
  std::istringstream found_lines(found), expected_lines(expected);
  std::string a, b;
  for (int line = 1;; ++line) {
    const bool more = static_cast<bool>(std::getline(found_lines, a));
    if (!std::getline(expected_lines, b)) b = "(the end)";
    if (!more) a = "(the end)";
    if (a != b) return cat("line ", line, " is\n  ", a, "\nexpected\n  ", b);
    if (!more) return "only the last line's end differs";
  }
}

}  // namespace

void set_updating(bool updating) { is_updating = updating; }

void expect_golden(const std::string& file, const std::string& text) {
  const std::string path = cat(TW_SOURCE_DIR, "/tests/goldens/", file);
  if (is_updating) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream stream(path, std::ios::binary);
  const std::string expected(std::istreambuf_iterator<char>(stream), {});
  EXPECT_TRUE(text == expected) << file << ": " << first_difference(text, expected)
                                << "\nrun with --update and read the difference";
}

}  // namespace tw::goldens
