// process.h: runs programs the way a shell would, and keeps what they say.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "temp_files.h"

namespace tw::cli_test {

struct Finished {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out, err;
};

struct Spawn {
  std::string folder = {};             // where it starts; "": here
  int64_t file_size_limit_bytes = -1;  // RLIMIT_FSIZE: writes beyond it fail, as on a full disk
  int interrupt_after_ms = -1;         // SIGINT then
  bool stdout_is_full = false;         // a pipe that takes no byte: what prints waits
};

/// Waits for the end. `command[0]` is a path or a name in PATH.
Finished run(const std::vector<std::string>& command, const Spawn& how = {});

/// The command line program, as on a machine that has `isa` ("sse42", "avx2") and nothing wider;
/// "": as on this one.
std::string cli_path(const std::string& isa);

/// The command line program of this test's machine (isa/isa.h) with these arguments.
Finished tilewright(std::vector<std::string> arguments, const Spawn& how = {});

/// Exit code 1 and one line on stderr that has every part in it: a test fails where it is not so.
void expect_refused_with(const Finished& finished, const std::vector<std::string>& parts);
void expect_refused(const Finished& finished, const std::string& part);

}  // namespace tw::cli_test
