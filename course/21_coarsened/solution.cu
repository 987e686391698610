// Exercise 21: thread coarsening.
//
// A block of exercise 20 has a tree of nine steps for 512 terms. Half of the threads are idle from
// the second step on. Let each thread first add up 16 terms by itself, in a register; one tree of
// eight steps then serves 4096 terms.
//
//   thread t:  x[t] y[t] + x[t + 256] y[t + 256] + ... + x[t + 3840] y[t + 3840]
//   block:     a tree over 256 sums, and one atomic addition
//
// Goals: one atomic addition for 4096 terms, 8 barriers for them, and loads of 4 sectors.

#include "learn.cuh"

constexpr int THREADS = 256, COARSE = 16, TERMS = COARSE * THREADS;

constexpr Launch launch(int n) { return {.grid = {ceil_div(n, TERMS)}, .block = {THREADS}}; }

__global__ void dot(int n, const float* x, const float* y, float* result) {
  __shared__ float s[THREADS];
  const int t = threadIdx.x;
  //@ todo: add up this thread's terms, 256 apart; skip those beyond n
  //@ | float sum = 0;
  float sum = 0;
  for (int i = 0; i < COARSE; ++i) {
    const int at = blockIdx.x * TERMS + i * THREADS + t;
    if (at < n) sum += x[at] * y[at];
  }
  //@ end
  s[t] = sum;
  for (int stride = THREADS / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (t < stride) s[t] += s[t + stride];
  }
  if (t == 0) atomicAdd(result, s[0]);
}
