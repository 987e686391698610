// Exercise 02: an element of C for each thread.
//
// C = A B: A has m rows of k elements, B has k rows of n, C has m rows of n, all row-major. A block
// of 32 x 32 threads computes a tile of 32 x 32 elements of C. Each thread adds up the k products
// of a row of A and a column of B.
//
//                 B  +-----|-----+
//                    |     |col  |  k
//                    +-----|-----+
//     A  +-------+   +-----|-----+
//    row |-------|   |-----x     |  C[row][col]
//        +-------+   +-----------+
//            k             n
//
// Consecutive threads have consecutive rows here. That is slow, and exercise 03 mends it.
// Goals: two loads from global memory for each multiply-add (FMA), and one store of each result.

#include "learn.cuh"

constexpr int BM = 32, BN = 32;

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(m, BM), ceil_div(n, BN)}, .block = {BM, BN}};
}

__global__ void gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  const int row = blockIdx.x * BM + threadIdx.x;
  const int col = blockIdx.y * BN + threadIdx.y;
  //@ todo: return where C has no such element; otherwise add up k products and store the sum
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
  //@ end
}
