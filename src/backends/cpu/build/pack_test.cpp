// Packed weights from the compiler's side run as plain ones do.
#include "backends/cpu/build/pack.h"

#include "backends/cpu/conformance/net.h"

namespace tw::cpu {
namespace {

constexpr int64_t kRows = 13, kDepth = 21, kCols = 170;

/// A net with one product of [13, 21] by `b` and a bias; `b` is made by `make_b(net, plain b)`.
struct Product {
  Net net{3};
  task::GemmTask task;
  task::SlotId plain;

  Product() {
    task.a.id = net.add(DType::kF32, {kRows, kDepth});
    plain = net.add(DType::kF32, {kDepth, kCols});
    task.bias.id = net.add(DType::kF32, {kCols});
    task.c.id = net.add(DType::kF32, {kRows, kCols});
    task.b.id = plain;
  }
  std::vector<std::byte> run(Isa isa) {
    net.program.records.clear();
    net.add_task(task);
    EXPECT_EQ(net.run({}, isa), "");
    return net.memory[task::index(task.c.id)];
  }
  Tensor plain_tensor() {
    return Tensor::view(DType::kF32, {kDepth, kCols}, net.memory[task::index(plain)].data(),
                        nullptr);
  }
};

TEST(PackGemmB, PanelsServeAnyTileWidth) {
  for (const Isa isa : kAllIsas) {
    if (!isa_supported(isa)) continue;
    for (const int32_t tile_cols : {0, 50, 64}) {
      Product product;
      product.task.tile_cols = tile_cols;
      const std::vector<std::byte> wanted = product.run(isa);
      const Result<PackedWeight> packed = pack_gemm_b(product.plain_tensor(), false, isa);
      ASSERT_TRUE(packed.ok());
      product.task.b.id = product.net.add_panels({kDepth, kCols}, packed.value().bytes);
      EXPECT_TRUE(product.run(isa) == wanted) << isa_name(isa) << " " << tile_cols;
    }
  }
}

TEST(PackGemmB, WhatHasNoPackedFormSaysSo) {
  const Result<Tensor> b = Tensor::try_make(DType::kI8, {3, 4});
  ASSERT_TRUE(b.ok());
  const auto packed = pack_gemm_b(b.value(), false, best_isa());
  ASSERT_FALSE(packed.ok());
  EXPECT_EQ(packed.error().message, "gemm weight is i8[3,4], expected two dims of f32");
}

struct ConvCase {
  Dims x, w, y;
  int32_t groups;
  int16_t pad;
};

TEST(PackConvW, PanelsGiveTheBitsOfPlainWeights) {
  const ConvCase cases[] = {{{2, 9, 11, 3}, {8, 3, 3, 3}, {2, 9, 11, 8}, 1, 1},
                            {{1, 14, 14, 16}, {24, 16, 1, 1}, {1, 14, 14, 24}, 1, 0},
                            {{2, 12, 13, 10}, {10, 1, 3, 3}, {2, 12, 13, 10}, 10, 1},
                            {{1, 10, 10, 12}, {6, 4, 3, 3}, {1, 10, 10, 6}, 3, 1}};
  for (const ConvCase& c : cases) {
    Net net(42);
    task::ConvTask task;
    task.x.id = net.add(DType::kF32, c.x);
    task.w.id = net.add(DType::kF32, c.w);
    task.y.id = net.add(DType::kF32, c.y);
    task.groups = c.groups;
    for (size_t d = 0; d < 2; ++d) {
      task.kernel[d] = static_cast<int16_t>(c.w[d + 2]);
      task.pad[d] = c.pad;
    }
    net.add_task(task);
    ASSERT_EQ(net.run({}), "");
    const auto plain = net.memory[task::index(task.y.id)];
    const Tensor w =
        Tensor::view(DType::kF32, c.w, net.memory[task::index(task.w.id)].data(), nullptr);
    const Result<PackedWeight> packed = pack_conv_w(w, c.groups, best_isa());
    ASSERT_TRUE(packed.ok());
    task.w.id = net.add_panels(c.w, packed.value().bytes);
    net.program.records.clear();
    net.add_task(task);
    ASSERT_EQ(net.run({}), "");
    EXPECT_TRUE(net.memory[task::index(task.y.id)] == plain) << join(c.w, "x");
  }
}

}  // namespace
}  // namespace tw::cpu
