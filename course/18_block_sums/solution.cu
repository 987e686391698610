// Exercise 18: sums of blocks, added by atomics.
//
// The dot product of x and y: n products, added up. Now all threads work on one result. Let each
// thread put its product into shared memory, let one thread of the block add them up, and let it
// add the block's sum to the result in one step that no other block can come between: an atomic
// addition.
//
//   block 0:  p0 p1 ... p255 --> sum 0 --+
//   block 1:  p256 ...       --> sum 1 --+--> result (zero at the start)
//   ...                                  |    atomicAdd(result, sum)
//   block b:                 --> sum b --+
//
// Goals: one atomic addition a block, and loads of 4 sectors.

#include "learn.cuh"

constexpr int THREADS = 256;

constexpr Launch launch(int n) { return {.grid = {ceil_div(n, THREADS)}, .block = {THREADS}}; }

__global__ void dot(int n, const float* x, const float* y, float* result) {
  __shared__ float terms[THREADS];
  const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
  //@ todo: the product of this thread, or zero; then wait for all
  terms[t] = i < n ? x[i] * y[i] : 0;
  __syncthreads();
  //@ end

  //@ todo: thread 0 adds up the terms, and adds the sum to the result
  if (t != 0) return;
  float sum = 0;
  for (int j = 0; j < THREADS; ++j) sum += terms[j];
  atomicAdd(result, sum);
  //@ end
}
