// The sum of x, as a starting point: the threads of a threadgroup add up their elements in
// threadgroup memory, and each threadgroup adds its sum to the result.
//
// rung check dispatches sum() so that each threadgroup of THREADS threads has TERMS elements, and
// sets the result to 0 beforehand.

#include <metal_stdlib>

using namespace metal;

constant constexpr uint THREADS = 256;
constant constexpr uint TERMS = THREADS;

kernel void sum(constant uint& n [[buffer(0)]], const device float* x [[buffer(1)]],
                device atomic_float* result [[buffer(2)]],
                uint group [[threadgroup_position_in_grid]],
                uint index [[thread_index_in_threadgroup]]) {
  threadgroup float sums[THREADS];
  const uint i = group * TERMS + index;
  sums[index] = i < n ? x[i] : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint stride = THREADS / 2; stride > 0; stride /= 2) {
    if (index < stride) sums[index] += sums[index + stride];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (index == 0) atomic_fetch_add_explicit(result, sums[0], memory_order_relaxed);
}
