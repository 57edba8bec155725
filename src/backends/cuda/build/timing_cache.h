// timing_cache.h: what was measured on a device, kept for later builds: which variant of a task's
// kernel is fastest. Equal caches give equal plans.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace tw::cuda {

struct Timing {
  int variant = 0;
  double us = 0;
};

class TimingCache {
 public:
  /// Reads `path` when it is there. A file of another device or kernel version, or one that is not
  /// a timing cache, is ignored; `warning` then says so.
  static TimingCache read(const std::string& path, const std::string& made_for,
                          std::string& warning);
  /// Crash-safe; does nothing when nothing was added.
  Result<void> write(const std::string& path) const;

  const Timing* find(const std::string& task) const;
  void add(const std::string& task, const Timing& timing);
  size_t size() const { return timings_.size(); }

 private:
  std::string made_for_;
  std::map<std::string, Timing> timings_;
  bool changed_ = false;
};

}  // namespace tw::cuda
