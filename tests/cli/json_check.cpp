#include "json_check.h"

#include <nlohmann/json.hpp>

namespace tw::cli_test {

bool is_json(const std::string& text) { return nlohmann::json::accept(text); }

}  // namespace tw::cli_test
