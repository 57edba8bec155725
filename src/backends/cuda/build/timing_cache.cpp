#include "backends/cuda/build/timing_cache.h"

#include <charconv>
#include <fstream>
#include <sstream>

#include "base/atomic_file.h"

namespace tw::cuda {
namespace {

constexpr std::string_view kMagic = "tilewright timing cache 1";

/// "VARIANT US TASK"; false when the line is something else.
bool parse(const std::string& line, std::string& task, Timing& timing) {
  std::istringstream in(line);
  if (!(in >> timing.variant >> timing.us) || timing.variant < 0 || timing.variant > 255)
    return false;
  in.get();
  return static_cast<bool>(std::getline(in, task)) && !task.empty();
}

}  // namespace

TimingCache TimingCache::read(const std::string& path, const std::string& made_for,
                              std::string& warning) {
  TimingCache cache;
  cache.made_for_ = made_for;
  std::ifstream file(path);
  if (!file) return cache;
  std::string magic, found_for, line;
  std::getline(file, magic);
  std::getline(file, found_for);
  if (magic != kMagic) {
    warning = cat("'", path, "' is not a timing cache and is ignored");
    return cache;
  }
  if (found_for != made_for) {
    warning = cat("timing cache '", path, "' is ignored: made for '", found_for, "', this is '",
                  made_for, "'");
    return cache;
  }
  while (std::getline(file, line)) {
    std::string task;
    Timing timing;
    if (!parse(line, task, timing)) {
      cache.timings_.clear();
      warning = cat("timing cache '", path, "' is damaged and is ignored");
      return cache;
    }
    cache.timings_[task] = timing;
  }
  return cache;
}

Result<void> TimingCache::write(const std::string& path) const {
  if (!changed_) return {};
  std::string text = cat(kMagic, "\n", made_for_, "\n");
  for (const auto& [task, timing] : timings_)
    text += cat(timing.variant, " ", timing.us, " ", task, "\n");
  AtomicFile file = TRY(AtomicFile::create(path));
  TRY(file.write(std::as_bytes(std::span(text.data(), text.size()))));
  return file.commit();
}

const Timing* TimingCache::find(const std::string& task) const {
  const auto found = timings_.find(task);
  return found == timings_.end() ? nullptr : &found->second;
}

void TimingCache::add(const std::string& task, const Timing& timing) {
  timings_[task] = timing;
  changed_ = true;
}

}  // namespace tw::cuda
