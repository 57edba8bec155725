// The loop around a fuzzer where libFuzzer is not: inputs 0, 1, 2 .. of a seed until the time is
// up. Whatever ends the process early says which input it was: --seed S --input N runs that one
// alone.
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "driver.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// An allocation that the input has no business to ask for ends the process; the sanitizer's way out
// is abort(), which on_signal sees. Options of the environment come on top.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:allocator_may_return_null=1:max_allocation_size_mb=512";
}
extern "C" const char* __ubsan_default_options();
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

namespace tw::fuzz {
namespace {

// More: it hangs. The processor's time, since others may have the machine; the clock's for what
// waits.
constexpr unsigned kCpuSecondsAnInput = 60, kSecondsAnInput = 1200;
constexpr rlim_t kMaxBytes = rlim_t{8} << 30;  // of memory, where no sanitizer limits it
constexpr unsigned long long kNoInput = ~0ULL;

struct Options {
  double seconds = 5;
  unsigned long long seed = 1;
  unsigned long long input = kNoInput;  // run this one only
  std::string save;                     // and write its bytes here
  std::string file;                     // run its bytes only
  std::string write_seeds;              // a folder for libFuzzer's corpus
};

// What runs now, as text that a signal handler can write.
char current[128];

void on_signal(int number) {
  const bool hangs = number == SIGALRM || number == SIGPROF;
  const char* what = hangs ? "hangs at " : "ended by a signal at ";
  for (const char* text : {kName, ": ", what, static_cast<const char*>(current), "\n"})
    if (write(STDERR_FILENO, text, std::string_view(text).size()) < 0) break;
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

void guard() {
  for (const int number : {SIGABRT, SIGALRM, SIGPROF}) std::signal(number, on_signal);
  if (kSanitized) return;
  for (const int number : {SIGSEGV, SIGFPE, SIGBUS, SIGILL}) std::signal(number, on_signal);
  const rlimit limit{kMaxBytes, kMaxBytes};
  setrlimit(RLIMIT_AS, &limit);
}

/// 0: no limit.
void limit_time(unsigned cpu_seconds, unsigned seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = cpu_seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
  alarm(seconds);
}

class Loop {
 public:
  explicit Loop(const Options& options) : options_(options), seeds_(n_seeds()) {}

  void run() {
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    unsigned long long n = 0;
    if (options_.input != kNoInput)
      one(options_.input);
    else
      for (; elapsed() < options_.seconds; ++n) one(n);
    std::printf("%s: %llu inputs of seed %llu in %.0f s", kName, n, options_.seed, elapsed());
    for (const auto& [word, count] : counts_) std::printf("; %s %llu", word.c_str(), count);
    std::printf("\n");
  }

 private:
  const Bytes& seed(size_t i) {
    if (seeds_[i].empty()) seeds_[i] = make_seed(i);
    return seeds_[i];
  }

  void one(unsigned long long n) {
    std::snprintf(current, sizeof current, "--seed %llu --input %llu", options_.seed, n);
    limit_time(kCpuSecondsAnInput, kSecondsAnInput);
    std::seed_seq sequence{options_.seed, n};
    Random random(sequence);
    const Bytes& input = seed(below(random, seeds_.size()));
    const Bytes& other = seed(below(random, seeds_.size()));
    const Bytes made = mutate(input, other, random);
    if (!options_.save.empty()) std::ofstream(options_.save, std::ios::binary) << made;
    ++counts_[try_input(made)];
    limit_time(0, 0);
  }

  const Options& options_;
  std::vector<Bytes> seeds_;
  std::map<std::string, unsigned long long> counts_;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_seeds(const std::string& folder) {
  for (size_t i = 0; i < n_seeds(); ++i)
    std::ofstream(cat(folder, "/seed_", i), std::ios::binary) << make_seed(i);
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 >= argc) return false;
    const char* value = argv[i + 1];
    if (name == "--seconds")
      options.seconds = std::strtod(value, nullptr);
    else if (name == "--seed")
      options.seed = std::strtoull(value, nullptr, 10);
    else if (name == "--input")
      options.input = std::strtoull(value, nullptr, 10);
    else if (name == "--save")
      options.save = value;
    else if (name == "--file")
      options.file = value;
    else if (name == "--write-seeds")
      options.write_seeds = value;
    else
      return false;
  }
  return true;
}

}  // namespace
}  // namespace tw::fuzz

int main(int argc, char** argv) {
  tw::fuzz::Options options;
  if (!tw::fuzz::read_options(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: %s [--seconds S] [--seed N] [--input N [--save FILE]] [--file FILE] "
                 "[--write-seeds FOLDER]\n",
                 argv[0]);
    return 2;
  }
  tw::fuzz::guard();
  if (!options.write_seeds.empty()) {
    tw::fuzz::write_seeds(options.write_seeds);
  } else if (!options.file.empty()) {
    std::printf("%s\n", tw::fuzz::try_input(tw::fuzz::read_file(options.file)).c_str());
  } else {
    tw::fuzz::Loop(options).run();
  }
  return 0;
}
