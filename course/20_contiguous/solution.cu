// Exercise 20: neighbours stay together.
//
// In the tree of exercise 19, every second thread adds in the second step, every fourth in the
// third: the threads at work are spread over all warps, and every warp takes as long as if all its
// lanes worked. Their terms are far apart, too, and in the same banks. Let thread t add the term
// whose distance is half of the remaining range:
//
//   s:   0 1 2 ... 255 | 256 ... 511      stride 256: thread t adds s[t + 256] to s[t]
//        0 ... 127 | 128 ... 255          stride 128: threads 0 to 127, four whole warps
//        0 ... 63 | 64 ... 127            stride 64:  two whole warps
//
// Goals: no bank conflicts, at most 48 branches at which lanes part, and no barrier too many.

#include "learn.cuh"

constexpr int THREADS = 256, TERMS = 2 * THREADS;

constexpr Launch launch(int n) { return {.grid = {ceil_div(n, TERMS)}, .block = {THREADS}}; }

__global__ void dot(int n, const float* x, const float* y, float* sums) {
  __shared__ float s[TERMS];
  const int t = threadIdx.x, first = blockIdx.x * TERMS;
  for (int i = t; i < TERMS; i += THREADS) s[i] = first + i < n ? x[first + i] * y[first + i] : 0;
  //@ todo: the first step adds two terms that this thread itself has stored
  //@ | for (int stride = 1; stride <= THREADS; stride *= 2) {
  //@ |   __syncthreads();
  //@ |   if (t % stride == 0) s[2 * t] += s[2 * t + stride];
  //@ | }
  for (int stride = THREADS; stride > 0; stride /= 2) {
    if (stride < THREADS) __syncthreads();
    if (t < stride) s[t] += s[t + stride];
  }
  //@ end
  if (t == 0) sums[blockIdx.x] = s[0];
}
