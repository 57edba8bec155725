// tma.cuh: copies of whole tiles by the tensor memory accelerator, which count on barriers in
// shared memory (mbarrier), one instruction a function.
#pragma once

TW_DEVICE void barrier_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
/// What barrier_init wrote is seen by copies started after the next barrier of the block.
TW_DEVICE void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Arrives, and lets the barrier's phase wait for `bytes` of copies.
TW_DEVICE void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Until the phase of that parity is complete. Traps after some seconds: a copy that does not come
/// is a fault of the program.
TW_DEVICE void barrier_wait(uint32_t barrier, uint32_t parity) {
  constexpr int kTries = 1 << 24;
  for (int i = 0; i < kTries; ++i) {
    uint32_t complete;
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
        "selp.u32 %0, 1, 0, p; }"
        : "=r"(complete)
        : "r"(barrier), "r"(parity)
        : "memory");
    if (complete != 0) return;
  }
  __trap();
}

TW_DEVICE void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

TW_DEVICE void prefetch_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
/// The box at column x and row y of a matrix; what lies outside is zero.
TW_DEVICE void copy_box(uint32_t to, const TensorMap* map, int x, int y, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
TW_DEVICE void prefetch_box(const TensorMap* map, int x, int y) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(map), "r"(x),
               "r"(y)
               : "memory");
}
/// Channels from c on of a column of pixels of images [n, h, w, c] from (n, h, w) on, each shifted
/// by the tap's place in the window; what lies outside is zero.
TW_DEVICE void copy_pixels(uint32_t to, const TensorMap* map, int c, int w, int h, int n,
                           uint32_t tap_w, uint32_t tap_h, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::"r"(to),
      "l"(map), "r"(c), "r"(w), "r"(h), "r"(n), "r"(barrier), "h"(static_cast<uint16_t>(tap_w)),
      "h"(static_cast<uint16_t>(tap_h))
      : "memory");
}
/// 64 channels from c on of a rectangle of image n, from column x and line y on; what lies outside
/// is zero.
TW_DEVICE void copy_patch(uint32_t to, const TensorMap* map, int c, int x, int y, int n,
                          uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
      "l"(map), "r"(c), "r"(x), "r"(y), "r"(n), "r"(barrier)
      : "memory");
}
