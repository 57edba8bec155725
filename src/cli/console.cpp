#include "cli/console.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/atomic_file.h"

namespace tw::cli {
namespace {

constexpr size_t kBarCells = 24;

/// The temporary of the file being written, for the handler: empty when there is none. A handler
/// may touch nothing else.
std::array<char, 4096> g_temporary = {};
volatile sig_atomic_t g_has_temporary = 0;

extern "C" void on_interrupt(int signal_number) {
  if (g_has_temporary != 0) ::unlink(g_temporary.data());
  ::_exit(128 + signal_number);
}

}  // namespace

Console::Console() {
  terminal_ = ::isatty(STDERR_FILENO) != 0;
  const char* no_color = std::getenv("NO_COLOR");
  color_ = terminal_ && (no_color == nullptr || *no_color == '\0');
}

void Console::print(std::string_view text) {
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Console::note(std::string_view text) {
  if (quiet_) return;
  clear_progress();
  std::fprintf(stderr, "note: %.*s\n", static_cast<int>(text.size()), text.data());
}

void Console::fail(std::string_view text) {
  clear_progress();
  std::fflush(stdout);
  std::fprintf(stderr, "%stilewright: %s%.*s\n", color_ ? "\x1b[31m" : "", color_ ? "\x1b[0m" : "",
               static_cast<int>(text.size()), text.data());
}

void Console::progress(std::string_view step, double fraction) {
  if (quiet_ || !terminal_) return;
  const auto filled = static_cast<size_t>(std::clamp(fraction, 0.0, 1.0) * kBarCells);
  const std::string bar = std::string(filled, '#') + std::string(kBarCells - filled, '.');
  std::fprintf(stderr, "\r[%s] %3.0f%% %.*s\x1b[K", bar.c_str(), 100 * fraction,
               static_cast<int>(step.size()), step.data());
  std::fflush(stderr);
  bar_shown_ = true;
}

void Console::clear_progress() {
  if (!bar_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  bar_shown_ = false;
}

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGXFSZ, SIG_IGN);
}

WriteGuard::WriteGuard(const std::string& path) {
  const std::string temporary = cat(path, ".tmp.", static_cast<int64_t>(::getpid()));
  if (temporary.size() >= g_temporary.size()) return;  // longer than any path the system takes
  std::memcpy(g_temporary.data(), temporary.c_str(), temporary.size() + 1);
  g_has_temporary = 1;
}

WriteGuard::~WriteGuard() { g_has_temporary = 0; }

Result<void> write_file(const std::string& path, std::span<const std::byte> bytes) {
  const WriteGuard guard(path);
  AtomicFile file = TRY(AtomicFile::create(path));
  TRY(file.write(bytes));
  return file.commit();
}

Result<void> write_file(const std::string& path, std::string_view text) {
  return write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

std::string grouped(int64_t number) {
  const std::string digits = cat(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    const size_t left = digits.size() - i;
    if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') text += ',';
    text += digits[i];
  }
  return text;
}

std::string human_bytes(int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return cat(bytes, " B");
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (size >= 1024 && unit + 1 < std::size(kUnits)) {
    size /= 1024;
    ++unit;
  }
  return cat(fixed(size, 1), " ", kUnits[unit]);
}

std::string fixed(double number, int digits) {
  std::array<char, 512> text = {};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 std::chars_format::fixed, digits)
                       .ptr;
  return {text.data(), end};
}

}  // namespace tw::cli
