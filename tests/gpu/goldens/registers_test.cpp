// Registers, stack and spills of kernels that models spend their time in, as the assembler reports
// them: a change shows up in registers.txt. `gpu_goldens_test --update` writes it anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "backends/cpu/conformance/net.h"
#include "backends/cuda/launch.h"
#include "backends/cuda/nvrtc.h"
#include "backends/cuda/tasks/attention_plan.h"
#include "backends/cuda/tasks/conv_slide.h"
#include "backends/cuda/tasks/stream.h"
#include "tests/goldens/golden_file.h"

namespace tw::gpu {
namespace {

using cpu::Net;

constexpr const char* kArch = "sm_90a";
/// What registers.txt was written with; another compiler allocates otherwise.
constexpr const char* kVersion = "13.0";

/// The figures of each kernel of the net's last task, one line each.
std::string figures(const std::string& name, const Net& net) {
  const auto launches =
      cuda::make_launches({net.program.records.back(), net.program.slots, net.program.side});
  if (!launches.ok()) return cat(name, ": ", launches.error().message, "\n");
  std::string text;
  for (const cuda::Launch& launch : launches.value()) {
    const auto compiled = cuda::compile_kernel(launch.source, kArch);
    if (!compiled.ok()) return cat(name, ": ", compiled.error().message, "\n");
    const auto figure = [&](const char* pattern) {
      std::smatch match;
      return std::regex_search(compiled.value().log, match, std::regex(pattern)) ? match[1].str()
                                                                                 : "?";
    };
    const bool waits = compiled.value().log.find("wgmma.mma_async instructions are serialized") !=
                       std::string::npos;
    text += cat(name, ": ", figure("Used ([0-9]+) registers"), " registers, ",
                figure("([0-9]+) bytes stack frame"), " bytes of stack, ",
                figure("([0-9]+) bytes spill stores"), " spilled, ", launch.threads, " threads, ",
                launch.shared_bytes, " bytes shared", waits ? ", products wait" : "", "\n");
  }
  return text;
}

void pack(Net& net, task::SlotId weight) { net.slot(weight).layout = task::Layout::kPanels; }

std::string gemm(DType dtype, int64_t m, uint8_t variant, const std::string& tile,
                 int64_t n = 768) {
  Net net(1);
  task::GemmTask task;
  task.a.id = net.add(dtype, {m, 768});
  task.b.id = net.add_immutable(dtype, {768, n});
  task.bias.id = net.add(dtype, {n});
  task.c.id = net.add(dtype, {m, n});
  pack(net, task.b.id);
  net.add_task(task);
  net.program.records.back().variant = variant;
  return figures(cat("gemm ", dtype, " ", m, " x 768 x ", n, " ", tile), net);
}

/// One of tasks/stream.h: a few rows by a weight of 4096 x 4096.
std::string stream(int64_t m, int variant) {
  Net net(1);
  task::GemmTask task;
  task.a.id = net.add(DType::kBF16, {m, 4096});
  task.b.id = net.add_immutable(DType::kBF16, {4096, 4096});
  task.c.id = net.add(DType::kBF16, {m, 4096});
  pack(net, task.b.id);
  net.add_task(task);
  net.program.records.back().variant = static_cast<uint8_t>(variant);
  return figures(cat("stream bf16 ", m, " x 4096 x 4096, variant ", variant), net);
}

std::string conv(const Dims& x, const Dims& w, int16_t stride, int16_t pad, int32_t groups = 1,
                 int variant = 0) {
  Net net(1);
  task::ConvTask task;
  task.x.id = net.add(DType::kF16, x);
  task.w.id = net.add_immutable(DType::kF16, w);
  task.bias.id = net.add(DType::kF16, {w[0]});
  task.groups = groups;
  Dims y = {x[0]};
  for (size_t d = 0; d < 2; ++d) {
    task.kernel[d] = static_cast<int16_t>(w[d + 2]);
    task.stride[d] = stride;
    task.dilation[d] = 1;
    task.pad[d] = pad;
    y.push_back((x[d + 1] + 2 * pad - w[d + 2]) / stride + 1);
  }
  y.push_back(w[0]);
  task.y.id = net.add(DType::kF16, y);
  pack(net, task.w.id);
  net.add_task(task);
  net.program.records.back().variant = static_cast<uint8_t>(variant);
  return figures(cat("conv f16 ", join(x, "x"), " by ", join(w, "x"),
                     variant > 0 ? cat(" variant ", variant) : ""),
                 net);
}

std::string attention(int64_t length, uint8_t variant) {
  Net net(1);
  task::AttentionTask task;
  const Dims dims = {1, length, 12, 64};
  task.q.id = net.add(DType::kF16, dims);
  task.k.id = net.add(DType::kF16, dims);
  task.v.id = net.add(DType::kF16, dims);
  task.mask.id = net.add(DType::kF32, {1, 1, 1, length});
  task.y.id = net.add(DType::kF16, dims);
  net.add_task(task);
  net.program.records.back().variant = variant;
  return figures(cat("attention f16 ", length, " of 12 heads of 64, variant ", variant), net);
}

std::string norm(int64_t rows, int64_t cols) {
  Net net(1);
  task::NormTask task;
  task.eps = 1e-5F;
  task.x.id = net.add(DType::kF16, {rows, cols});
  task.scale.id = net.add_immutable(DType::kF16, {cols});
  task.bias.id = net.add_immutable(DType::kF16, {cols});
  task.y.id = net.add(DType::kF16, {rows, cols});
  net.add_task(task);
  return figures(cat("norm f16 ", rows, " x ", cols), net);
}

std::string softmax(int64_t rows, int64_t cols) {
  Net net(1);
  task::SoftmaxTask task;
  task.x.id = net.add(DType::kF16, {rows, cols});
  task.y.id = net.add(DType::kF16, {rows, cols});
  net.add_task(task);
  return figures(cat("softmax f16 ", rows, " x ", cols), net);
}

std::string gather(task::GatherTask::Kind kind, int8_t axis, const Dims& x, const Dims& index,
                   const Dims& y) {
  Net net(1);
  task::GatherTask task;
  task.kind = kind;
  task.axis = axis;
  task.x.id = net.add(DType::kF16, x);
  task.index.id = net.add(DType::kI64, index);
  task.y.id = net.add(DType::kF16, y);
  net.add_task(task);
  return figures(cat("gather f16 ", join(x, "x"), " at ", join(index, "x"), ", kind ",
                     static_cast<int>(kind), ", axis ", static_cast<int>(axis)),
                 net);
}

std::string scatter(task::ScatterTask::Kind kind, task::ScatterTask::Combine combine, const Dims& y,
                    const Dims& index, const Dims& updates) {
  Net net(1);
  task::ScatterTask task;
  task.kind = kind;
  task.combine = combine;
  task.y.id = net.add(DType::kF16, y);
  task.index.id = net.add(DType::kI64, index);
  task.updates.id = net.add(DType::kF16, updates);
  net.add_task(task);
  return figures(cat("scatter f16 ", join(y, "x"), " at ", join(index, "x"), ", kind ",
                     static_cast<int>(kind), ", combine ", static_cast<int>(combine)),
                 net);
}

/// Tasks whose indices are data.
std::string by_index() {
  using Gather = task::GatherTask::Kind;
  using Scatter = task::ScatterTask::Kind;
  using Combine = task::ScatterTask::Combine;
  const Dims cube = {50, 60, 64}, pairs = {100, 2}, rows = {100, 64};
  return gather(Gather::kTake, 0, {30522, 768}, {1, 128}, {1, 128, 768}) +
         gather(Gather::kTake, 1, {64, 1000}, {77}, {64, 77}) +
         gather(Gather::kElements, 1, {64, 1000}, {64, 100}, {64, 100}) +
         gather(Gather::kNd, 0, cube, pairs, rows) +
         scatter(Scatter::kElements, Combine::kReplace, {900, 64}, {100, 64}, {100, 64}) +
         scatter(Scatter::kNd, Combine::kReplace, cube, pairs, rows) +
         scatter(Scatter::kNd, Combine::kAdd, cube, pairs, rows);
}

std::string all_figures() {
  std::string text = cat("NVRTC ", kVersion, ", ", kArch, "\n");
  const auto tiles = cuda::tile_configs();
  for (size_t i = 0; i < tiles.size(); ++i)
    for (const int serial : {0, 1})
      text += gemm(DType::kF16, tiles[i].groups ? 512 : 16,
                   static_cast<uint8_t>(1 + 2 * i + static_cast<size_t>(serial)),
                   cat(tiles[i].name, serial == 1 ? ", slices one after another" : ""),
                   tiles[i].producer ? 4096 : 768);  // where K is in one piece
  text += gemm(DType::kF32, 128, 0, "chosen by the sizes");
  for (const int64_t m : {1, 16})
    for (int variant = 2 * static_cast<int>(tiles.size()) + 1;
         variant <= cuda::last_stream_variant(); ++variant)
      text += stream(m, variant);
  text +=
      conv({1, 224, 224, 3}, {64, 3, 7, 7}, 2, 3) + conv({1, 56, 56, 64}, {64, 64, 3, 3}, 1, 1) +
      conv({1, 56, 56, 24}, {24, 24, 3, 3}, 1, 1) + conv({1, 56, 56, 256}, {64, 256, 1, 1}, 1, 0) +
      conv({1, 56, 56, 96}, {96, 1, 3, 3}, 1, 1, 96);
  for (int variant = 2 * static_cast<int>(tiles.size()) + 1; variant <= cuda::last_slide_variant();
       ++variant)
    text += cuda::is_slide_variant(static_cast<uint8_t>(variant))
                ? conv({1, 56, 56, 64}, {64, 64, 3, 3}, 1, 1, 1, variant)
                : conv({1, 56, 56, 32}, {64, 32, 1, 1}, 1, 0, 1, variant);
  for (uint8_t variant = 0; variant <= cuda::kAttentionVariants; variant += 2)
    text += attention(512, variant);
  return text + norm(128, 768) + norm(4096, 768) + softmax(128, 512) + by_index();
}

TEST(Kernels, TakeTheRegistersAndSpillNothingThatTheGoldenSays) {
  const auto version = cuda::nvrtc_version();
  if (!version.ok() || version.value() != kVersion)
    GTEST_SKIP() << "the golden is of NVRTC " << kVersion
                 << ", here: " << (version.ok() ? version.value() : version.error().message);
  const std::string text = all_figures();
  EXPECT_EQ(text.find("products wait"), std::string::npos) << text;
  goldens::expect_golden("kernels/registers.txt", text);
}

}  // namespace
}  // namespace tw::gpu
