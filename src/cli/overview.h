// overview.h: what the program as a whole says of itself.
#pragma once

#include <string>

namespace tw::cli {

/// The text of `tilewright --help`.
std::string overview_text();
/// The text of `tilewright --version`: commit, instruction set, libraries.
std::string version_text();

}  // namespace tw::cli
