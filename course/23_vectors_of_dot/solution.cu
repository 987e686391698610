// Exercise 23: wide loads, several in flight, and blocks that stay.
//
// A dot product reads each element once: its time is that of memory. Memory is busy only if enough
// bytes are in flight. Load 16 bytes at a time, several vectors before the first is used, and start
// only as many blocks as the GPU holds at once: each goes through the vectors with a stride.
//
//   vectors of x:   0 1 2 ... T-1 | T ... 2T-1 | 2T ...        T threads in the whole grid
//   thread t takes  t,              t + T,        t + 2T, ...  four of them in flight
//
// x and y begin at multiples of 16 bytes; n need not be a multiple of 4: the last elements are read
// one by one. `multiprocessors` is the number of SMs, two blocks each. Goals: at most 8 blocks, and
// at least 64 bytes of loads in flight for each thread.

#include "learn.cuh"

constexpr int THREADS = 256, PIECES = 4, WARPS = THREADS / 32;
constexpr unsigned all_lanes = 0xffffffff;

constexpr Launch launch(int n) {
  //@ todo: enough blocks for all vectors, but at most two for each multiprocessor
  //@ | return {.grid = {ceil_div(n, THREADS)}, .block = {THREADS}};
  return {.grid = {min(ceil_div(n, 4 * THREADS), 2 * multiprocessors)}, .block = {THREADS}};
  //@ end
}

__device__ float product(float4 x, float4 y) {
  return x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
}

__global__ void dot(int n, const float* x, const float* y, float* result) {
  __shared__ float sums[WARPS];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  const auto* const xv = reinterpret_cast<const float4*>(x);
  const auto* const yv = reinterpret_cast<const float4*>(y);
  const int thread = blockIdx.x * THREADS + t, threads = gridDim.x * THREADS, vectors = n / 4;
  float sum = 0;
  //@ todo: PIECES vectors of x and y at once while there are so many; then the rest, one by one
  int i = thread;
  for (; i + (PIECES - 1) * threads < vectors; i += PIECES * threads) {
    float4 xs[PIECES], ys[PIECES];
#pragma unroll
    for (int p = 0; p < PIECES; ++p) {
      xs[p] = xv[i + p * threads];
      ys[p] = yv[i + p * threads];
    }
#pragma unroll
    for (int p = 0; p < PIECES; ++p) sum += product(xs[p], ys[p]);
  }
  for (; i < vectors; i += threads) sum += product(xv[i], yv[i]);
  for (int rest = vectors * 4 + thread; rest < n; rest += threads) sum += x[rest] * y[rest];
  //@ end
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(all_lanes, sum, by);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp != 0) return;
  sum = lane < WARPS ? sums[lane] : 0;
  for (int by = WARPS / 2; by > 0; by /= 2) sum += __shfl_down_sync(all_lanes, sum, by);
  if (t == 0) atomicAdd(result, sum);
}
