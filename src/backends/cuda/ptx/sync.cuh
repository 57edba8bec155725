// Ordering between warps, blocks and grids: one PTX instruction a function.
#pragma once

#include <cstdint>

namespace tw::cuda::ptx {

/// PTX ISA, griddepcontrol.wait: until the grids this one depends on have completed and their
/// writes are visible. Returns at once in a launch with no programmatic edge.
__device__ __forceinline__ void griddepcontrol_wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

/// PTX ISA, griddepcontrol.launch_dependents: this block no longer holds back the next grid.
__device__ __forceinline__ void griddepcontrol_launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/// PTX ISA, ld.relaxed: four words that another block may be writing, each whole, in no order.
__device__ __forceinline__ float4 ld_relaxed_gpu(const float4* address) {
  float4 value;
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
               : "l"(address)
               : "memory");
  return value;
}

/// PTX ISA, st.relaxed: four words that another block may be reading.
__device__ __forceinline__ void st_relaxed_gpu(float4* address, float4 value) {
  asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(address), "f"(value.x),
               "f"(value.y), "f"(value.z), "f"(value.w)
               : "memory");
}

}  // namespace tw::cuda::ptx
