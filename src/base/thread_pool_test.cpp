#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace tw {
namespace {

TEST(ThreadPool, EveryItemIsInExactlyOneCall) {
  ThreadPool pool({.n_workers = 4, .spin_pauses = 50});
  for (int64_t n = 0; n < 300; ++n) {
    std::vector<int> seen(static_cast<size_t>(n), 0);
    pool.parallel_for(n, [&](int64_t begin, int64_t end, int worker) {
      EXPECT_GE(worker, 0);
      EXPECT_LT(worker, 4);
      for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
    });
    for (const int count : seen) ASSERT_EQ(count, 1) << n;
  }
}

TEST(ThreadPool, AWorkerIsInOneCallAtATime) {
  ThreadPool pool({.n_workers = 3});
  std::array<std::atomic<int>, 3> inside{};
  for (int round = 0; round < 200; ++round) {
    pool.parallel_for(40, [&](int64_t, int64_t, int worker) {
      EXPECT_EQ(inside[static_cast<size_t>(worker)].fetch_add(1), 0);
      inside[static_cast<size_t>(worker)].fetch_sub(1);
    });
  }
}

TEST(ThreadPool, NestedLoopsRunOnTheirWorker) {
  ThreadPool pool({.n_workers = 3});
  std::atomic<int> total = 0;
  pool.parallel_for(20, [&](int64_t begin, int64_t end, int outer) {
    pool.parallel_for(10 * (end - begin), [&](int64_t b, int64_t e, int inner) {
      EXPECT_EQ(inner, outer);
      total += static_cast<int>(e - b);
    });
  });
  EXPECT_EQ(total, 200);
}

TEST(ThreadPool, SeveralCallersShareAPool) {
  ThreadPool pool({.n_workers = 2, .spin_pauses = 0});
  std::atomic<int64_t> total = 0;
  const auto caller = [&] {
    for (int round = 0; round < 300; ++round) {
      pool.parallel_for(7, [&](int64_t begin, int64_t end, int) { total += end - begin; });
    }
  };
  std::thread a(caller), b(caller), c(caller);
  a.join();
  b.join();
  c.join();
  EXPECT_EQ(total, 3 * 300 * 7);
}

TEST(ThreadPool, FewItemsStayOnTheCaller) {
  ThreadPool pool({.n_workers = 4});
  const auto me = std::this_thread::get_id();
  pool.parallel_for(
      8, [&](int64_t, int64_t, int) { EXPECT_EQ(std::this_thread::get_id(), me); }, 8);
}

TEST(ThreadPool, APoolOfOneHasNoThreads) {
  ThreadPool pool({.n_workers = 0});
  EXPECT_EQ(pool.size(), 1);
  int64_t sum = 0;
  pool.parallel_for(10, [&](int64_t begin, int64_t end, int) { sum += end - begin; });
  EXPECT_EQ(sum, 10);
}

}  // namespace
}  // namespace tw
