// mma.cuh: what matrix kernels use of PTX, one instruction a function: asynchronous copies into
// shared memory, matrix loads and products, clusters of blocks.
#pragma once

/// The address in the shared window that the instructions below take.
TW_DEVICE uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// ---- copies that run beside the arithmetic ----
/// 16 bytes, of which the last 16 - `bytes` are zero and not read; both ends 16-byte aligned.
TW_DEVICE void cp_async_16(uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(bytes)
               : "memory");
}
/// kBytes (4 or 8) bytes, all or none (zero then); both ends multiples of kBytes.
template <int kBytes>
TW_DEVICE void cp_async_small(uint32_t to, const void* from, bool some) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
               "r"(some ? kBytes : 0)
               : "memory");
}
TW_DEVICE void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until at most the last kPending groups of this thread are still on their way.
template <int kPending>
TW_DEVICE void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
TW_DEVICE void prefetch_l2(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}
/// `bytes` and the address are multiples of 16.
TW_DEVICE void prefetch_l2_bulk(const void* address, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(address), "r"(bytes) : "memory");
}

/// What copies and stores of this thread wrote to shared memory is seen by products of warpgroups
/// started after the next barrier.
TW_DEVICE void fence_for_wgmma() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- global memory ----
/// An element, or 0 without touching memory; without a branch, so that many are on their way.
TW_DEVICE float load_if(bool some, const float* from) {
  float x;
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %2, 0;\n\tmov.f32 %0, 0f00000000;\n\t"
      "@p ld.global.f32 %0, [%1];\n\t}"
      : "=f"(x)
      : "l"(from), "r"(static_cast<int>(some))
      : "memory");
  return x;
}
template <class T>
TW_DEVICE T load_if(bool some, const T* from) {
  static_assert(sizeof(T) == 2);
  T x;
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %2, 0;\n\tmov.u16 %0, 0;\n\t"
      "@p ld.global.u16 %0, [%1];\n\t}"
      : "=h"(x.bits)
      : "l"(from), "r"(static_cast<int>(some))
      : "memory");
  return x;
}

// ---- shared memory ----
TW_DEVICE void store_shared_16(uint32_t to, uint4 value) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(value.x), "r"(value.y),
               "r"(value.z), "r"(value.w)
               : "memory");
}
TW_DEVICE void store_shared_8(uint32_t to, float2 value) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(value.x), "f"(value.y) : "memory");
}
TW_DEVICE void store_shared_4(uint32_t to, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(value) : "memory");
}
TW_DEVICE float4 load_shared_16(uint32_t from) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(from)
               : "memory");
  return v;
}
TW_DEVICE float load_shared_4(uint32_t from) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(from) : "memory");
  return v;
}
/// Two bytes, zeros above them.
TW_DEVICE uint32_t load_shared_2(uint32_t from) {
  uint32_t v;
  asm volatile("ld.shared.u16 %0, [%1];" : "=r"(v) : "r"(from) : "memory");
  return v;
}

// ---- matrices: every 8x8 matrix is eight rows of 16 bytes; lane l holds bytes 4 * (l % 4).. of
// row l / 4 ----
/// Lanes 8i..8i+7 give the addresses of the rows of matrix i.
TW_DEVICE void ldmatrix_x4(uint32_t (&out)[4], uint32_t row_address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(row_address)
               : "memory");
}

/// d[16, 8] += a[16, 32 bytes] x b[8, 32 bytes]^T in the tensor core, fp32 sums. Lane l holds of d
/// rows l / 4 (elements 0, 1) and l / 4 + 8 (2, 3), columns 2 * (l % 4) and the next.
template <class T>
struct Mma;
template <>
struct Mma<f16> {
  static TW_DEVICE void round(uint32_t&) {}
  static TW_DEVICE void add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
template <>
struct Mma<bf16> {
  static TW_DEVICE void round(uint32_t&) {}
  static TW_DEVICE void add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
/// fp32 operands, rounded to tf32 when they come out of shared memory.
template <>
struct Mma<float> {
  static TW_DEVICE void round(uint32_t& x) {
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x) : "f"(__uint_as_float(x)));
  }
  static TW_DEVICE void add(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};

// ---- clusters: blocks that run at the same time and reach one another's shared memory ----
/// Everything this thread wrote before is seen by every thread behind the cluster_wait that
/// follows.
TW_DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
TW_DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
/// `address` of this block's shared memory, in the block of that rank.
TW_DEVICE uint32_t cluster_address(uint32_t address, uint32_t rank) {
  uint32_t mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}
TW_DEVICE float4 load_cluster_16(uint32_t from) {
  float4 v;
  asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(from)
               : "memory");
  return v;
}
TW_DEVICE float load_cluster_4(uint32_t from) {
  float v;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(from) : "memory");
  return v;
}
