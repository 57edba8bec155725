// nvrtc.h: the run-time compiler of CUDA C, found when it is first needed: builders use it, plans
// hold what it made.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace tw::cuda {

/// A compiled kernel.
struct Compiled {
  std::vector<std::byte> cubin;
  std::string log;  // the assembler's report: registers, stack, spills
};

/// `source` may include the headers of kernels/ by name. `arch` is "sm_90a". Fails with kNotFound
/// when there is no NVRTC (says what was looked for), with kInternal and the compiler's words when
/// the source does not compile. A text is compiled once a process. Thread-safe.
Result<Compiled> compile_kernel(const std::string& source, const std::string& arch);

/// All of `sources`, on all processors; results in their order. `progress`, unless empty, is told
/// the share that is done, by the thread that calls.
std::vector<Result<Compiled>> compile_kernels(const std::vector<std::string>& sources,
                                              const std::string& arch,
                                              const std::function<void(double)>& progress);

/// "13.0", or why there is none.
Result<std::string> nvrtc_version();

/// Name and text of every header below kernels/.
struct KernelHeader {
  const char* name;
  const char* text;
};
std::span<const KernelHeader> kernel_headers();

}  // namespace tw::cuda
