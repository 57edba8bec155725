#include "process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/cat.h"
#include "base/check.h"
#include "isa/isa.h"

namespace tw::cli_test {
namespace {

/// A pipe that is full, both ends open while it lives.
class FullPipe {
 public:
  FullPipe() {
    CHECK(::pipe2(ends_.data(), O_NONBLOCK | O_CLOEXEC) == 0, "the test may make pipes");
    const std::array<char, 4096> bytes = {};
    while (::write(ends_[1], bytes.data(), bytes.size()) > 0) continue;
    ::fcntl(ends_[1], F_SETFL, 0);  // writers wait
  }
  ~FullPipe() {
    for (const int end : ends_) ::close(end);
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;
  int write_end() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_ = {};
};

/// In the child: everything up to exec. `out` is a file descriptor.
[[noreturn]] void become(const std::vector<std::string>& command, const Spawn& how, int out,
                         const std::string& err) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
  if (how.interrupt_after_ms >= 0) {
    // An interrupted program ends with its threads where they are, which TSan calls a leak.
    const char* options = std::getenv("TSAN_OPTIONS");
    ::setenv("TSAN_OPTIONS",
             cat(options != nullptr ? options : "", ":report_thread_leaks=0").c_str(), 1);
  }
  if (!how.folder.empty() && ::chdir(how.folder.c_str()) != 0) ::_exit(126);
  if (how.file_size_limit_bytes >= 0) {
    const auto limit = static_cast<rlim_t>(how.file_size_limit_bytes);
    const rlimit both = {limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &both);
  }
  ::execvp(words[0], words.data());
  ::_exit(127);
}

}  // namespace

Finished run(const std::vector<std::string>& command, const Spawn& how) {
  const TempFolder folder;
  const std::string out = folder.file("out"), err = folder.file("err");
  const FullPipe full;
  const int file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const pid_t child = ::fork();
  CHECK(child >= 0, "the test may start programs");
  if (child == 0) become(command, how, how.stdout_is_full ? full.write_end() : file, err);
  ::close(file);
  if (how.interrupt_after_ms >= 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(how.interrupt_after_ms));
    ::kill(child, SIGINT);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  Finished finished;
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.out = read_all(out);
  finished.err = read_all(err);
  return finished;
}

std::string cli_path(const std::string& isa) {
  return TW_CLI_FOLDER + (isa.empty() ? "" : "/" + isa) + "/tilewright";
}

Finished tilewright(std::vector<std::string> arguments, const Spawn& how) {
  arguments.insert(arguments.begin(), cli_path(isa_of_test()));
  return run(arguments, how);
}

void expect_refused_with(const Finished& finished, const std::vector<std::string>& parts) {
  EXPECT_EQ(finished.exit_code, 1) << finished.out << finished.err;
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  for (const std::string& part : parts) EXPECT_THAT(finished.err, ::testing::HasSubstr(part));
}

void expect_refused(const Finished& finished, const std::string& part) {
  expect_refused_with(finished, {part});
}

}  // namespace tw::cli_test
