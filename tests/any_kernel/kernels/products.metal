// Kernels for tests/any_kernel/commands_test.cpp.
#include <metal_stdlib>
using namespace metal;

struct Sizes {
  uint M, N, K;
};

constant float scale [[function_constant(0)]];

kernel void product(const device float* A [[buffer(0)]], const device float* B [[buffer(1)]],
                    device float* C [[buffer(2)]], constant Sizes& sizes [[buffer(3)]],
                    uint2 place [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < sizes.K; ++k) sum += A[place.y * sizes.K + k] * B[k * sizes.M + place.x];
  C[place.y * sizes.M + place.x] = sum;
}

kernel void scaled_sums(const device float* x [[buffer(0)]], device float* sums [[buffer(1)]],
                        threadgroup float* part [[threadgroup(0)]],
                        uint index [[thread_index_in_threadgroup]],
                        uint group [[threadgroup_position_in_grid]],
                        uint threads [[threads_per_threadgroup]]) {
  part[index] = x[group * threads + index];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (index != 0) return;
  float sum = 0;
  for (uint i = 0; i < threads; ++i) sum += part[i];
  sums[group] = scale * sum;
}

#define FILLED(type)                                                   \
  kernel void filled_with_##type(device type* out [[buffer(0)]],       \
                                 uint i [[thread_position_in_grid]]) { \
    out[i] = type(i);                                                  \
  }
FILLED(int)
FILLED(half)

struct Shift {
  packed_float3 by;
};

kernel void shifted(const device packed_float3* x [[buffer(0)]], device float* y [[buffer(1)]],
                    constant Shift& shift [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  y[i] = x[i].x + shift.by.y;
}

kernel void waits(device volatile int* flag [[buffer(0)]]) {
  while (*flag == 0) {
  }
}
