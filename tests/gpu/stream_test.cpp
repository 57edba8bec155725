// Products of a few rows whose weight streams: answers, and bits that neither the number of rows
// nor the way to them changes.
#include <algorithm>

#include "backends/cuda/tasks/gemm_config.h"
#include "backends/cuda/tasks/stream.h"
#include "tests/gpu/device_case.h"

namespace tw::gpu {
namespace {

using cpu::instr;
using cpu::Lie;
using cpu::Net;
using task::Lane;
using task::PointOp;

struct StreamCase {
  int64_t m, n, k;
  DType dtype = DType::kF16;
};

/// Rows of the weight along K, as a packed one has them. x comes last: its first rows and all else
/// are the same numbers whatever m is.
task::GemmTask add_stream(Net& net, const StreamCase& c, uint8_t variant) {
  task::GemmTask task;
  task.b.id = net.add_immutable(c.dtype, {c.n, c.k});
  task.bias.id = net.add(c.dtype, {c.n});
  task.a.id = net.add(c.dtype, {c.m, c.k});
  task.c.id = net.add(c.dtype, {c.m, c.n});
  task.transpose_b = 1;
  net.add_task(task);
  net.program.records.back().variant = variant;
  return task;
}

int first_stream_variant() { return static_cast<int>(2 * cuda::tile_configs().size()) + 1; }

double tolerance(const StreamCase& c) {
  return (c.dtype == DType::kF16 ? 0x1p-10 : 0x1p-7) + static_cast<double>(c.k) * 0x1p-22;
}

constexpr StreamCase kCases[] = {
    {1, 768, 768},   {3, 24, 64},    {8, 136, 200},
    {9, 1000, 1096}, {16, 44, 2056}, {16, 4500, 1096},
    {5, 4500, 512},  {16, 4500, 96}, {2, 21, 1024, DType::kBF16},
    {1, 8, 8},       {3, 40, 70},    {12, 768, 3072, DType::kBF16},
};

TEST(StreamOnDevice, TheAnswersOfTheCpu) {
  for (const StreamCase& c : kCases)
    for (int variant = first_stream_variant(); variant <= cuda::last_stream_variant(); ++variant) {
      SCOPED_TRACE(cat(c.m, " x ", c.n, " x ", c.k, " ", c.dtype, " variant ", variant));
      Net net(61);
      const task::GemmTask task = add_stream(net, c, static_cast<uint8_t>(variant));
      expect_same_on_device(net, task.c.id, tolerance(c));
    }
}

TEST(StreamOnDevice, EveryVariantGivesTheSameBits) {
  for (const StreamCase& c : {kCases[3], kCases[5], kCases[11]}) {
    std::vector<std::byte> first;
    for (int variant = 0; variant <= cuda::last_stream_variant(); ++variant) {
      SCOPED_TRACE(cat(c.m, " x ", c.n, " x ", c.k, " ", c.dtype, " variant ", variant));
      Net net(62);
      const task::GemmTask task = add_stream(net, c, static_cast<uint8_t>(variant));
      expect_bits(net, task.c.id, first);
    }
  }
}

TEST(StreamOnDevice, ARowHasItsBitsWhateverRowsAreWithIt) {
  for (const auto& [n, k] : {std::pair<int64_t, int64_t>{4500, 1096}, {768, 3072}, {136, 200}}) {
    if (!has_device()) GTEST_SKIP() << "no GPU";
    std::vector<std::byte> all;
    for (const int64_t m : {64, 17, 16, 9, 8, 2, 1}) {
      SCOPED_TRACE(cat(m, " x ", n, " x ", k));
      Net net(63);
      const task::GemmTask task = add_stream(net, {m, n, k}, 0);
      const auto bytes = bytes_on_device(net, task.c.id);
      EXPECT_TRUE(bytes.ok()) << bytes.error().message;
      if (!bytes.ok()) continue;
      if (all.empty()) all = bytes.value();
      EXPECT_TRUE(std::equal(bytes.value().begin(), bytes.value().end(), all.begin()));
    }
  }
}

TEST(StreamOnDevice, TheEpilogueSeesSumsAndExtras) {
  for (const int64_t n : {300, 301}) {
    const StreamCase c{7, n, 264};
    for (int variant = first_stream_variant(); variant <= cuda::last_stream_variant(); ++variant) {
      SCOPED_TRACE(cat(n, " variant ", variant));
      Net net(64);
      task::GemmTask task;
      task.a.id = net.add(c.dtype, {c.m, c.k});
      task.b.id = net.add_immutable(c.dtype, {c.n, c.k});
      task.bias.id = net.add(DType::kF32, {c.n});
      task.c.id = net.add(DType::kF32, {c.m, c.n});
      task.extra[0].id = net.add(DType::kF16, {c.m, c.n});
      task.transpose_b = 1;
      task.alpha = 0.5F;
      task.epilogue = net.add_program(
          2, {3},
          {instr(PointOp::kAdd, Lane::kF32, 2, 0, 1), instr(PointOp::kRelu, Lane::kF32, 3, 2)});
      net.add_task(task);
      net.program.records.back().variant = static_cast<uint8_t>(variant);
      expect_same_on_device(net, task.c.id, tolerance(c));
    }
  }
}

TEST(StreamOnDevice, AWeightThatIsMadeByAnotherTaskIsWaitedFor) {
  Net net(65);
  const StreamCase c{4, 520, 640};
  task::CopyTask copy;
  copy.x.id = net.add(c.dtype, {c.n, c.k});
  copy.y.id = net.add(c.dtype, {c.n, c.k});
  net.add_task(copy);
  task::GemmTask task;
  task.a.id = net.add(c.dtype, {c.m, c.k});
  task.b.id = copy.y.id;
  task.c.id = net.add(c.dtype, {c.m, c.n});
  task.transpose_b = 1;
  net.add_task(task);
  net.program.records.back().variant = static_cast<uint8_t>(first_stream_variant());
  expect_same_on_device(net, task.c.id, tolerance(c));
}

}  // namespace
}  // namespace tw::gpu
