// golden_file.h: expected text in files beside the tests. With --update a test program writes what
// it would compare; the difference is then read in review.
#pragma once

#include <string>

namespace tw::goldens {

/// Set by --update.
void set_updating(bool updating);
/// The text is what the file below tests/goldens/ holds; the failure shows the first line that
/// differs.
void expect_golden(const std::string& file, const std::string& text);

}  // namespace tw::goldens
