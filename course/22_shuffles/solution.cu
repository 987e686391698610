// Exercise 22: warp shuffles.
//
// The lanes of a warp can read each other's registers: __shfl_down_sync(mask, value, by) gives the
// value of the lane `by` places up. So a warp adds up its 32 sums in five steps, without shared
// memory and without barriers. Only the 8 sums of warps go through shared memory.
//
//   lane     0    1    2   ...  15   16  ...  31
//   by 16:   0+16 1+17 2+18     15+31
//   by 8:    +8   +9 ...
//   by 4, 2, 1: lane 0 has the sum of the warp
//
// Goals: one barrier a block, at most one shared load for 100 FMAs, and one atomic addition a
// block.

#include "learn.cuh"

constexpr int THREADS = 256, COARSE = 16, TERMS = COARSE * THREADS, WARPS = THREADS / 32;
constexpr unsigned all_lanes = 0xffffffff;

constexpr Launch launch(int n) { return {.grid = {ceil_div(n, TERMS)}, .block = {THREADS}}; }

__global__ void dot(int n, const float* x, const float* y, float* result) {
  __shared__ float sums[WARPS];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  float sum = 0;
  for (int i = 0; i < COARSE; ++i) {
    const int at = blockIdx.x * TERMS + i * THREADS + t;
    if (at < n) sum += x[at] * y[at];
  }
  //@ todo: the warp's sum to lane 0, the sums of warps to shared memory, their sum to thread 0
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(all_lanes, sum, by);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp != 0) return;
  sum = lane < WARPS ? sums[lane] : 0;
  for (int by = WARPS / 2; by > 0; by /= 2) sum += __shfl_down_sync(all_lanes, sum, by);
  //@ end
  if (t == 0) atomicAdd(result, sum);
}
