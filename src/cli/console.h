// console.h: what the program says and where: results on stdout, notes, progress and failures on
// stderr.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tw::cli {

class Console {
 public:
  /// Colour and the progress bar are for a terminal; NO_COLOR turns colour off.
  Console();
  ~Console() { clear_progress(); }
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void set_quiet() { quiet_ = true; }

  /// To stdout, as it is.
  void print(std::string_view text);
  /// A line on stderr: what was assumed.
  void note(std::string_view text);
  /// A line on stderr: why it failed.
  void fail(std::string_view text);
  /// A bar on stderr while `step` runs; `fraction` from 0 to 1.
  void progress(std::string_view step, double fraction);
  void clear_progress();

 private:
  bool quiet_ = false;
  bool terminal_ = false;
  bool color_ = false;
  bool bar_shown_ = false;
};

/// Ctrl-C and SIGTERM end the process at once, with 130 and 143, and take the temporary of the file
/// being written with them. A write beyond a size limit becomes an error of the write.
void install_signal_handlers();

/// While this lives, an interrupt removes the temporary that AtomicFile makes for `path`. One at a
/// time.
class WriteGuard {
 public:
  explicit WriteGuard(const std::string& path);
  ~WriteGuard();
  WriteGuard(const WriteGuard&) = delete;
  WriteGuard& operator=(const WriteGuard&) = delete;
};

/// Crash-safe: the old file or the new one.
Result<void> write_file(const std::string& path, std::span<const std::byte> bytes);
Result<void> write_file(const std::string& path, std::string_view text);

/// "1,234,567".
std::string grouped(int64_t number);
/// "1.2 MiB".
std::string human_bytes(int64_t bytes);
/// With this many digits behind the point.
std::string fixed(double number, int digits);

}  // namespace tw::cli
