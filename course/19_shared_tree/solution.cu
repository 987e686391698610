// Exercise 19: a tree in shared memory.
//
// In exercise 18, 255 threads wait while one adds. Additions of different pairs do not depend on
// each other: 512 terms take nine steps if all threads add at once.
//
//   stride 1:   s0+s1   s2+s3   s4+s5   s6+s7   ...    thread t adds s[2t + 1] to s[2t]
//   stride 2:   s0+s2           s4+s6           ...    every second thread adds
//   stride 4:   s0+s4                           ...    every fourth
//   ...
//
// The kernel stores the sum of each block of 512 terms; the host adds those up. Goals: a barrier
// for each step, and none too many.

#include "learn.cuh"

constexpr int THREADS = 256, TERMS = 2 * THREADS;

constexpr Launch launch(int n) { return {.grid = {ceil_div(n, TERMS)}, .block = {THREADS}}; }

__global__ void dot(int n, const float* x, const float* y, float* sums) {
  __shared__ float s[TERMS];
  const int t = threadIdx.x, first = blockIdx.x * TERMS;
  for (int i = t; i < TERMS; i += THREADS) s[i] = first + i < n ? x[first + i] * y[first + i] : 0;
  //@ todo: for strides of 1, 2, 4, ... THREADS: every thread whose number is a multiple adds a pair
  for (int stride = 1; stride <= THREADS; stride *= 2) {
    __syncthreads();
    if (t % stride == 0) s[2 * t] += s[2 * t + stride];
  }
  //@ end
  if (t == 0) sums[blockIdx.x] = s[0];
}
