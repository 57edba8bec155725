// thread_pool.h: a fixed set of threads that share the items of one loop at a time. The caller
// works too: a pool of n has n - 1 threads of its own. Made for loops of microseconds: between
// loops the threads watch for a short, bounded time before they sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace tw {

class ThreadPool {
 public:
  struct Options {
    int n_workers = 1;      // the caller included; below 1 counts as 1
    int spin_pauses = 500;  // CPU pauses before a thread without work sleeps
  };

  explicit ThreadPool(const Options& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls body(begin, end, worker) until every item of [0, n_items) was in exactly one call, and
  /// returns when all calls have. 0 <= worker < size(), never the same in two calls at one time of
  /// one loop. Callable from any thread; a call from inside a body (it keeps the worker) or while
  /// another thread's loop runs does all items on the calling thread. Allocates nothing.
  /// `min_items` is the fewest items worth handing over.
  template <class Body>
  void parallel_for(int64_t n_items, Body&& body, int64_t min_items = 1) {
    using Plain = std::remove_reference_t<Body>;
    const auto call = +[](const void* context, int64_t begin, int64_t end, int worker) {
      (*static_cast<Plain*>(const_cast<void*>(context)))(begin, end, worker);
    };
    run(n_items, min_items, call, &body);
  }

 private:
  using Call = void (*)(const void* context, int64_t begin, int64_t end, int worker);

  void run(int64_t n_items, int64_t min_items, Call call, const void* context);
  void work(int worker);
  void thread_main(int worker);
  void wait_for_change(uint32_t seen) const;

  const int spin_pauses_;
  std::vector<std::thread> threads_;
  std::atomic<bool> busy_{false};  // a loop has the pool
  std::atomic<bool> stopping_{false};
  std::atomic<uint32_t> generation_{0};  // grows when there may be something to do
  // The loop. `call_` ... `chunk_` are written only while open_ is false and n_inside_ is 0.
  std::atomic<bool> open_{false};
  std::atomic<int> n_inside_{0};  // threads that may be reading the loop
  Call call_ = nullptr;
  const void* context_ = nullptr;
  int64_t n_items_ = 0;
  int64_t chunk_ = 1;
  std::atomic<int64_t> next_{0};
};

}  // namespace tw
