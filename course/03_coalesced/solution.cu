// Exercise 03: coalesced accesses.
//
// The kernel of exercise 02 is right, but a load of A by a warp touches 32 sectors of 32 bytes and
// uses 4 bytes of each: the threads of a warp have consecutive threadIdx.x, and that was the row.
//
//   exercise 02                       here
//   lane 0  A[0][i]   sector 0        lanes 0 to 31  A[row][i]          1 sector
//   lane 1  A[1][i]   sector 1        lane 0         B[i][0]    --+
//   ...                               lane 1         B[i][1]      | 4 sectors
//   lane 31 A[31][i]  sector 31       ...                       --+
//
// Goals: 2.5 sectors for a load on average, 4 for a store.

#include "learn.cuh"

constexpr int BM = 32, BN = 32;

constexpr Launch launch(int m, int n, int k) {
  //@ todo: which extent of C belongs to grid.x?
  //@ | return {.grid = {ceil_div(m, BM), ceil_div(n, BN)}, .block = {BM, BN}};
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)}, .block = {BN, BM}};
  //@ end
}

__global__ void gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  //@ todo: let the threads of a warp run along a row of C
  //@ | const int row = blockIdx.x * BM + threadIdx.x;
  //@ | const int col = blockIdx.y * BN + threadIdx.y;
  const int row = blockIdx.y * BM + threadIdx.y;
  const int col = blockIdx.x * BN + threadIdx.x;
  //@ end
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
