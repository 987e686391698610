// Exercise 05: a column of results for each thread.
//
// In exercise 04, each FMA waits for two loads from shared memory, which has the bandwidth for one
// word a lane and cycle. Let a thread compute 8 results, one below the other: they need the same
// element of B, which stays in a register.
//
//                 Bs[i][col]          registers: acc[0] to acc[7]
//                     |
//    As[row+0][i] --> *  acc[0]       9 loads for 8 FMAs, where
//    As[row+1][i] --> *  acc[1]       exercise 04 had 16
//    ...
//    As[row+7][i] --> *  acc[7]
//
// Goals: at most 9 shared loads for 8 FMAs; one load of each element of a tile by the block.

#include "learn.cuh"

constexpr int BM = 64, BN = 64, BK = 8, TM = 8;
constexpr int THREADS = BM * BN / TM;

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)}, .block = {THREADS}};
}

__global__ void gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  __shared__ float As[BM][BK];
  __shared__ float Bs[BK][BN];
  const int t = threadIdx.x;
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;
  const int thread_row = t / BN * TM, thread_col = t % BN;

  float acc[TM] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    for (int i = t; i < BM * BK; i += THREADS) {
      const int row = tile_row + i / BK, col = k0 + i % BK;
      As[i / BK][i % BK] = row < m && col < k ? a[row * k + col] : 0;
    }
    for (int i = t; i < BK * BN; i += THREADS) {
      const int row = k0 + i / BN, col = tile_col + i % BN;
      Bs[i / BN][i % BN] = row < k && col < n ? b[row * n + col] : 0;
    }
    __syncthreads();  // the tiles are complete
    //@ todo: for each of BK steps, one element of B and TM of A: TM FMAs
    for (int i = 0; i < BK; ++i) {
      const float b_frag = Bs[i][thread_col];
#pragma unroll
      for (int r = 0; r < TM; ++r) acc[r] += As[thread_row + r][i] * b_frag;
    }
    //@ end
    __syncthreads();  // all reads are done
  }
  //@ todo: store the TM results that exist
  for (int r = 0; r < TM; ++r) {
    const int row = tile_row + thread_row + r, col = tile_col + thread_col;
    if (row < m && col < n) c[row * n + col] = acc[r];
  }
  //@ end
}
