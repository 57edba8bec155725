#include "report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <sstream>

namespace ocr {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      result += escape.data();
    } else {
      result += c;
    }
  }
  return result + '"';
}

/// The smallest run that at least `share` of all runs do not exceed.
double percentile(std::vector<double> runs, double share) {
  if (runs.empty()) return 0;
  std::sort(runs.begin(), runs.end());
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(runs.size())));
  return runs[std::max(rank, size_t{1}) - 1];
}

}  // namespace

void print_lines(std::ostream& out, const std::vector<Line>& lines) {
  std::ostringstream table;
  table << std::fixed << std::setprecision(0) << "  line  confidence  top left     text\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    table << std::setw(6) << i + 1 << std::setw(12) << std::setprecision(3) << line.confidence
          << std::setprecision(0) << std::setw(7) << line.quad[0].x << ',' << std::left
          << std::setw(7) << line.quad[0].y << std::right << line.text << '\n';
  }
  out << table.str();
}

std::string lines_json(const std::vector<Line>& lines) {
  std::ostringstream json;
  json << "{\"schema_version\": 1, \"lines\": [";
  for (size_t i = 0; i < lines.size(); ++i) {
    json << (i == 0 ? "\n" : ",\n") << "  {\"text\": " << quoted(lines[i].text) << ", \"quad\": [";
    for (size_t k = 0; k < 4; ++k)
      json << (k == 0 ? "[" : ", [") << lines[i].quad[k].x << ", " << lines[i].quad[k].y << ']';
    json << "], \"confidence\": " << lines[i].confidence << '}';
  }
  json << "\n]}\n";
  return json.str();
}

void print_models(std::ostream& out, const std::vector<const Model*>& models) {
  std::ostringstream table;
  table << std::fixed
        << "  plan         tasks   weights KiB   arena KiB   runs    p50 ms    p99 ms\n";
  for (const Model* model : models)
    table << "  " << std::left << std::setw(10) << model->name() << std::right << std::setw(8)
          << model->plan().tasks() << std::setw(14) << model->plan().weights_bytes() / 1024
          << std::setw(12) << model->arena_bytes() / 1024 << std::setw(7) << model->run_ms().size()
          << std::setprecision(2) << std::setw(10) << percentile(model->run_ms(), 0.50)
          << std::setw(10) << percentile(model->run_ms(), 0.99) << '\n';
  out << table.str();
}

}  // namespace ocr
