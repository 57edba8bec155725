#include "backends/cuda/nvrtc.h"

#include <dlfcn.h>
#include <nvrtc.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/cat.h"

namespace tw::cuda {
namespace {

constexpr const char* kLibraries[] = {"libnvrtc.so.13", "libnvrtc.so",
                                      "/usr/local/cuda/lib64/libnvrtc.so.13"};

/// The functions of the library that are used.
struct Nvrtc {
  decltype(&::nvrtcVersion) version;
  decltype(&::nvrtcCreateProgram) create;
  decltype(&::nvrtcDestroyProgram) destroy;
  decltype(&::nvrtcCompileProgram) compile;
  decltype(&::nvrtcGetProgramLogSize) log_size;
  decltype(&::nvrtcGetProgramLog) log;
  decltype(&::nvrtcGetCUBINSize) cubin_size;
  decltype(&::nvrtcGetCUBIN) cubin;
  decltype(&::nvrtcGetErrorString) error_string;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Result<Nvrtc> load() {
  void* library = nullptr;
  for (const char* name : kLibraries)
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return error(Code::kNotFound,
                 "NVRTC is needed to build kernels and was not found: looked for libnvrtc.so.13 "
                 "(CUDA toolkit 13, or PyPI nvidia-cuda-nvrtc) in LD_LIBRARY_PATH, the system's "
                 "folders and /usr/local/cuda/lib64");
  Nvrtc n{};
  if (find(library, "nvrtcVersion", n.version) && find(library, "nvrtcCreateProgram", n.create) &&
      find(library, "nvrtcDestroyProgram", n.destroy) &&
      find(library, "nvrtcCompileProgram", n.compile) &&
      find(library, "nvrtcGetProgramLogSize", n.log_size) &&
      find(library, "nvrtcGetProgramLog", n.log) &&
      find(library, "nvrtcGetCUBINSize", n.cubin_size) && find(library, "nvrtcGetCUBIN", n.cubin) &&
      find(library, "nvrtcGetErrorString", n.error_string))
    return n;
  return error(Code::kIncompatible, "the NVRTC library found lacks functions of CUDA 13");
}

const Result<Nvrtc>& nvrtc() {
  static const Result<Nvrtc> loaded = load();
  return loaded;
}

/// A program of the library that is destroyed with the scope.
class Unit {
 public:
  explicit Unit(const Nvrtc& n) : n_(n) {}
  ~Unit() {
    if (program_ != nullptr) n_.destroy(&program_);
  }
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  nvrtcProgram* out() { return &program_; }
  nvrtcProgram get() const { return program_; }

 private:
  const Nvrtc& n_;
  nvrtcProgram program_ = nullptr;
};

std::string read_log(const Nvrtc& n, nvrtcProgram program) {
  size_t size = 0;
  if (n.log_size(program, &size) != NVRTC_SUCCESS || size < 2) return "";
  std::string log(size, '\0');
  n.log(program, log.data());
  log.resize(size - 1);  // the library's terminator
  return log;
}

Result<Compiled> compile(const std::string& source, const std::string& arch) {
  if (!nvrtc().ok()) return nvrtc().error();
  const Nvrtc& n = nvrtc().value();
  std::vector<const char*> names, texts;
  for (const KernelHeader& header : kernel_headers()) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  Unit unit(n);
  nvrtcResult status = n.create(unit.out(), source.c_str(), "tw_kernel.cu",
                                static_cast<int>(names.size()), texts.data(), names.data());
  if (status != NVRTC_SUCCESS)
    return error(Code::kInternal, "NVRTC takes no program: ", n.error_string(status));
  const std::string arch_option = cat("--gpu-architecture=", arch);
  const char* options[] = {arch_option.c_str(), "--std=c++20", "--ptxas-options=-v",
                           "--extra-device-vectorization", "--fmad=true"};
  status = n.compile(unit.get(), static_cast<int>(std::size(options)), options);
  Compiled compiled;
  compiled.log = read_log(n, unit.get());
  if (status != NVRTC_SUCCESS)
    return error(Code::kInternal, "a kernel does not compile: ", n.error_string(status), "\n",
                 compiled.log, "\n", source);
  size_t size = 0;
  if (n.cubin_size(unit.get(), &size) != NVRTC_SUCCESS || size == 0)
    return error(Code::kInternal, "NVRTC gives no machine code for ", arch);
  compiled.cubin.resize(size);
  n.cubin(unit.get(), reinterpret_cast<char*>(compiled.cubin.data()));
  return compiled;
}

}  // namespace

Result<std::string> nvrtc_version() {
  if (!nvrtc().ok()) return nvrtc().error();
  int major = 0, minor = 0;
  nvrtc().value().version(&major, &minor);
  return cat(major, ".", minor);
}

Result<Compiled> compile_kernel(const std::string& source, const std::string& arch) {
  static std::mutex mutex;
  static std::map<std::string, Compiled> known;
  const std::string key = cat(arch, "\n", source);
  {
    const std::lock_guard lock(mutex);
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
  }
  Compiled compiled = TRY(compile(source, arch));
  const std::lock_guard lock(mutex);
  known[key] = compiled;
  return compiled;
}

std::vector<Result<Compiled>> compile_kernels(const std::vector<std::string>& sources,
                                              const std::string& arch,
                                              const std::function<void(double)>& progress) {
  std::vector<std::optional<Result<Compiled>>> made(sources.size());
  std::atomic<size_t> next{0}, n_done{0};
  const auto compile_next = [&] {
    const size_t i = next++;
    if (i >= sources.size()) return false;
    made[i] = compile_kernel(sources[i], arch);
    ++n_done;
    return true;
  };
  {
    std::vector<std::jthread> others;
    const size_t n_threads = std::max(1U, std::thread::hardware_concurrency());
    for (size_t t = 1; t < std::min(n_threads, sources.size()); ++t)
      others.emplace_back([&] {
        while (compile_next()) {
        }
      });
    while (compile_next())
      if (progress)
        progress(static_cast<double>(n_done.load()) / static_cast<double>(sources.size()));
  }
  std::vector<Result<Compiled>> results;
  for (auto& one : made) results.push_back(std::move(*one));
  return results;
}

}  // namespace tw::cuda
