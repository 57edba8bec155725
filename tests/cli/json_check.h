// json_check.h: whether the program's JSON is JSON, by a parser that is not ours.
#pragma once

#include <string>

namespace tw::cli_test {

bool is_json(const std::string& text);

}  // namespace tw::cli_test
