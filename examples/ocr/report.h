// report.h: what the program says: the lines as a table and as JSON, and what each plan did.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "reading.h"

namespace ocr {

void print_lines(std::ostream& out, const std::vector<Line>& lines);

/// {"schema_version": 1, "lines": [{"text", "quad": [[x, y] * 4], "confidence"}]}
std::string lines_json(const std::vector<Line>& lines);

/// A row for each model: how often it ran, how long that took, what it holds in memory.
void print_models(std::ostream& out, const std::vector<const Model*>& models);

}  // namespace ocr
