#pragma once
// Declarations for the exercises of `rung learn`. CUDA's own names mean what the CUDA C++ Programming
// Guide says; ptx:: holds PTX instructions as functions of the same names.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/sums.cuh"
#include "device/cuda/ptx/tcgen05.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/tcgen05_descriptors.cuh"
#include "device/cuda/types.cuh"

#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))

extern "C" __device__ int printf(const char* format, ...);

/// The GPU of the course is an H200 with few SMs, so that small problems fill it.
constexpr int multiprocessors = 4;

struct dim3 {
  unsigned x = 1, y = 1, z = 1;

  constexpr dim3() = default;
  /// Takes integers of any type, as in .grid = {n / 256}.
  template <class X, class Y = unsigned, class Z = unsigned>
  constexpr dim3(X of_x, Y of_y = 1, Z of_z = 1)
      : x(static_cast<unsigned>(of_x)),
        y(static_cast<unsigned>(of_y)),
        z(static_cast<unsigned>(of_z)) {}
};

/// The launch by the host: kernel<<<grid, block, shared_bytes>>>, in clusters of `cluster` blocks.
struct Launch {
  dim3 grid, block;
  unsigned shared_bytes = 0;                // dynamic shared memory
  unsigned workspace_floats = 0;            // of the kernel's workspace, if it has one
  unsigned a_box_rows = 0, b_box_rows = 0;  // of the tensor maps' boxes; a row has 64 elements
  dim3 cluster;
};

__host__ __device__ constexpr int min(int x, int y) { return x < y ? x : y; }
__host__ __device__ constexpr int max(int x, int y) { return x > y ? x : y; }
constexpr int ceil_div(int x, int by) { return (x + by - 1) / by; }

/// .x, .y, .z and .w, at a multiple of 16 bytes.
using float4 = float __attribute__((ext_vector_type(4)));
__device__ inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

/// Stores 16 bytes to shared memory in one instruction, which the compiler may otherwise divide.
__device__ inline void store_shared4(float* to, float4 v) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(rung::ptx::cvta_to_shared(to)),
               "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
               : "memory");
}

/// A tensor map (CUtensorMap), which only TMA reads.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

__device__ inline void __syncwarp() { rung::ptx::bar_warp_sync(); }
/// All 32 lanes take part; the mask is ignored.
__device__ inline float __shfl_down_sync(unsigned /*mask*/, float value, unsigned by) {
  return rung::ptx::shfl_down(value, by);
}
__device__ inline float atomicAdd(float* address, float value) {
  return __nvvm_atom_add_gen_f(address, value);
}
__device__ inline unsigned atomicAdd(unsigned* address, unsigned value) {
  return static_cast<unsigned>(
      __nvvm_atom_add_gen_i(reinterpret_cast<int*>(address), static_cast<int>(value)));
}
__device__ inline void __threadfence() { __nvvm_membar_gl(); }

namespace ptx = rung::ptx;
using rung::bfloat16;

/// EXTENT rows of 64 elements of 16 bits, 128 bytes each, in the order that wgmma reads and TMA
/// writes: at(row, k) is the index of an element, descriptor() what wgmma takes.
template <int EXTENT>
using SwizzledTile = rung::cuda::SwizzledTile<EXTENT, true>;
/// The descriptors of tcgen05.mma: of a SwizzledTile whose rows are along k, and of a product of m rows and n columns.
__device__ inline uint64_t tcgen05_matrix(uint32_t tile, int k) {
  return rung::cuda::tcgen05_matrix(tile, true, k);
}
constexpr uint32_t tcgen05_form(int m, int n) { return rung::cuda::tcgen05_form(m, n, true, true); }
/// A stage of a circular buffer and the parity of its mbarriers' phase; advance() goes to the next.
template <int STAGES>
using PipelineState = rung::cuda::PipelineState<STAGES>;
