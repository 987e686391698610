// Exercise 04: a tile in shared memory.
//
// C = A B, all row-major. In exercise 03 every FMA loads an element of A and one of B from global
// memory. But the 32 x 32 threads of a block need only 32 rows of A and 32 columns of B: let them
// load a 32 x 32 tile of each into shared memory, together, and read it from there.
//
//             B   k0 ->  +------+
//                        |  Bs  |  32 x 32
//                        +------+
//        A  +----+       +------+
//           | As |  -->  |block |  each thread: one element of C,
//           +----+       | of C |  32 FMAs for two global loads
//          k0 ->         +------+
//
// Goals: two global loads for 32 FMAs, 4 sectors for a load, and no barrier too many or too few.

#include "learn.cuh"

constexpr int BM = 32, BN = 32, BK = 32;

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)}, .block = {BN, BM}};
}

__global__ void gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float As[BM][BK];
  __shared__ float Bs[BK][BN];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * BM + ty, col = blockIdx.x * BN + tx;

  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    //@ todo: load one element of As and one of Bs, zeros beyond the edges; then wait
    As[ty][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0;
    Bs[ty][tx] = k0 + ty < k && col < n ? b[(k0 + ty) * n + col] : 0;
    __syncthreads();
    //@ end

    //@ todo: add the products of a row of As and a column of Bs
    for (int i = 0; i < BK; ++i) sum += As[ty][i] * Bs[i][tx];
    //@ end

    //@ todo: what must happen before the next tile is loaded?
    __syncthreads();  // all reads are done
    //@ end
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
