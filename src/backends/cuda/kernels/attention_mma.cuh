// attention_mma.cuh: what the attention kernels use of PTX, one instruction a function, and the two
// things both kernels do alike: copying rows of an operand into shared memory, reading the mask.
#pragma once

#include "attention_params.h"
#include "base.cuh"

namespace tw::cuda {

/// Where the block's dynamic shared memory begins.
TW_DEVICE uint32_t shared_begin() {
  extern __shared__ __align__(16) char block_shared[];
  return static_cast<uint32_t>(__cvta_generic_to_shared(block_shared));
}

// ---- shared memory, by address ----
TW_DEVICE void copy_16_async(uint32_t to, const void* from, int bytes) {  // the rest is zero
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(bytes)
               : "memory");
}
TW_DEVICE void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until at most kPending groups of this thread's copies are under way.
template <int kPending>
TW_DEVICE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
TW_DEVICE void store_shared(uint32_t to, uint32_t x) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(x) : "memory");
}
TW_DEVICE void store_shared(uint32_t to, uint2 x) {
  asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(x.x), "r"(x.y) : "memory");
}
TW_DEVICE void store_shared(uint32_t to, uint4 x) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x.x), "r"(x.y), "r"(x.z),
               "r"(x.w)
               : "memory");
}
TW_DEVICE uint32_t load_shared(uint32_t from) {
  uint32_t x;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
  return x;
}
TW_DEVICE float2 load_shared_float2(uint32_t from) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(from) : "memory");
  return x;
}
TW_DEVICE float4 load_shared_float4(uint32_t from) {
  float4 x;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
               : "r"(from)
               : "memory");
  return x;
}
TW_DEVICE uint4 load_shared_uint4(uint32_t from) {
  uint4 x;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "r"(from)
               : "memory");
  return x;
}
/// Barrier `id` (1 to 15) of `threads` threads, whole warps.
TW_DEVICE void barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---- matrices of 8 rows of 16 bytes: lane 8 i + r gives the address of row r of matrix i; lane
// 4 r + c gets 4 bytes, c of row r, or with `transposed` (16-bit elements) rows 2 c and 2 c + 1 of
// column r ----
TW_DEVICE void load_matrices(uint32_t (&x)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(from)
               : "memory");
}
TW_DEVICE void load_matrices_transposed(uint32_t (&x)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
               : "r"(from)
               : "memory");
}
TW_DEVICE void load_matrices_transposed(uint32_t (&x)[2], uint32_t from) {  // lanes 0 to 15
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(x[0]), "=r"(x[1])
               : "r"(from)
               : "memory");
}

// ---- arithmetic ----
TW_DEVICE float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
TW_DEVICE float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// c[16, 8] += a[16, 32 bytes] b[32 bytes, 8] on the tensor core, accumulated in fp32. Lane 4 g + t
/// holds c[g][2 t], c[g][2 t + 1], c[g + 8][2 t], c[g + 8][2 t + 1].
template <class T>
struct Mma;
template <>
struct Mma<f16> {
  static constexpr uint32_t kOnes = 0x3c003c00u;
  static TW_DEVICE void add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
  static TW_DEVICE uint32_t pack(float low, float high) {
    uint32_t x;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(high), "f"(low));
    return x;
  }
};
template <>
struct Mma<bf16> {
  static constexpr uint32_t kOnes = 0x3f803f80u;
  static TW_DEVICE void add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
  static TW_DEVICE uint32_t pack(float low, float high) {
    uint32_t x;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(high), "f"(low));
    return x;
  }
};
template <>
struct Mma<float> {  // tf32
  static constexpr uint32_t kOnes = 0x3f800000u;
  static TW_DEVICE void add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
  static TW_DEVICE uint32_t round(float x) {
    uint32_t y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
  }
};

}  // namespace tw::cuda
