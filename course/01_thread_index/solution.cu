// Exercise 01: a thread for each element.
//
// z[i] = x[i] y[i] for n elements. A kernel is a function that many threads run at once. They come
// in blocks; a thread knows its number within its block, threadIdx.x, and its block's number within
// the grid, blockIdx.x.
//
//   block        0                  1                  2
//   threadIdx    0 1 2 ... 255      0 1 2 ... 255      0 1 2 ... 255
//   element      0 1 2 ... 255      256 ...   511      512 ...  n-1  | no element
//
// Goals: 4 sectors of 32 bytes for a load of a warp, and no more blocks than needed.

#include "learn.cuh"

constexpr int THREADS = 256;

constexpr Launch launch(int n) {
  //@ todo: how many blocks have a thread for each of n elements?
  //@ | return {.grid = {1}, .block = {THREADS}};
  return {.grid = {ceil_div(n, THREADS)}, .block = {THREADS}};
  //@ end
}

__global__ void products(int n, const float* x, const float* y, float* z) {
  //@ todo: the element of this thread, if there is one
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < n) z[i] = x[i] * y[i];
  //@ end
}
