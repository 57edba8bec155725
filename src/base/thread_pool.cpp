// Protocol. A caller that gets `busy_` writes the loop, sets `open_` and bumps `generation_`. A
// thread that sees the bump adds itself to `n_inside_` and only then looks at `open_`; the caller
// clears `open_` and only then looks at `n_inside_`. Both are sequentially consistent, so either
// the thread sees a closed loop and leaves, or the caller sees the thread and waits for it. A
// thread that sleeps through a loop is never waited for.
#include "base/thread_pool.h"

#include <algorithm>

namespace tw {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Which pool's loop this thread is in, and as which worker: how a nested call knows itself.
struct Place {
  const ThreadPool* pool = nullptr;
  int worker = 0;
};

Place& place() {
  static thread_local Place here;
  return here;
}

// Four chunks a worker: late threads still find work, and the shared counter stays cold.
constexpr int64_t kChunksPerWorker = 4;

}  // namespace

ThreadPool::ThreadPool(const Options& options) : spin_pauses_(std::max(0, options.spin_pauses)) {
  threads_.reserve(static_cast<size_t>(std::max(1, options.n_workers)) - 1);
  for (int worker = 1; worker < options.n_workers; ++worker) {
    threads_.emplace_back([this, worker] { thread_main(worker); });
  }
}

ThreadPool::~ThreadPool() {
  stopping_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(int64_t n_items, int64_t min_items, Call call, const void* context) {
  if (n_items <= 0) return;
  const Place outer = place();
  const bool nested = outer.pool == this;
  const int worker = nested ? outer.worker : 0;
  const bool alone = nested || threads_.empty() || n_items <= min_items || busy_.exchange(true);
  if (alone) {
    place() = {this, worker};
    call(context, 0, n_items, worker);
    place() = outer;
    return;
  }
  call_ = call;
  context_ = context;
  n_items_ = n_items;
  chunk_ = std::max({int64_t{1}, min_items, n_items / (size() * kChunksPerWorker)});
  next_.store(0, std::memory_order_relaxed);
  open_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();

  work(worker);
  place() = outer;
  open_.store(false);
  int pauses = 0;
  for (int inside = n_inside_.load(); inside != 0; inside = n_inside_.load()) {
    if (++pauses < spin_pauses_) {
      pause();
    } else {
      n_inside_.wait(inside);
    }
  }
  busy_.store(false);
}

void ThreadPool::work(int worker) {
  place() = {this, worker};
  while (true) {
    const int64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (begin >= n_items_) break;
    call_(context_, begin, std::min(n_items_, begin + chunk_), worker);
  }
}

void ThreadPool::wait_for_change(uint32_t seen) const {
  for (int i = 0; i < spin_pauses_; ++i) {
    if (generation_.load(std::memory_order_acquire) != seen) return;
    pause();
  }
  generation_.wait(seen);
}

void ThreadPool::thread_main(int worker) {
  uint32_t seen = 0;
  while (true) {
    wait_for_change(seen);
    seen = generation_.load();
    if (stopping_.load()) return;
    n_inside_.fetch_add(1);
    if (open_.load()) work(worker);
    n_inside_.fetch_sub(1);
    n_inside_.notify_one();
  }
}

}  // namespace tw
