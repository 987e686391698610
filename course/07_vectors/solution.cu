// Exercise 07: accesses of 16 bytes.
//
// Each load moves one float, and takes an issue slot that an FMA could have. A thread can load four
// neighbours at once as a float4. In global memory, rows of A and B offer that. In shared memory, a
// thread reads 8 rows of A: they become neighbours if the tile is stored transposed.
//
//   A   row: | a0 a1 a2 a3 |  one float4           As[0][row] = a0
//                                           -->    As[1][row] = a1
//                                                  As[2][row] = a2     8 rows of a step are
//                                                  As[3][row] = a3     adjacent: two float4
//
// n and k are multiples of 4. Goals: 16 bytes for each access to global memory and for each load
// from shared memory; 4 shared loads for 64 FMAs.

#include "learn.cuh"

constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constexpr int THREADS = (BM / TM) * (BN / TN);

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)}, .block = {THREADS}};
}

__device__ float4 load4(const float* from) { return *reinterpret_cast<const float4*>(from); }

__global__ void __launch_bounds__(THREADS)
    gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  alignas(16) __shared__ float As[BK][BM];
  alignas(16) __shared__ float Bs[BK][BN];
  const int t = threadIdx.x;
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;
  const int thread_row = t / (BN / TN) * TM, thread_col = t % (BN / TN) * TN;
  const int a_row = t / 2, a_step = t % 2 * 4;    // this thread's vector of the tile of A
  const int b_step = t / 32, b_col = t % 32 * 4;  // and of B

  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    //@ todo: one float4 of A, stored transposed, and one of B; zeros beyond the edges
    float4 v = {};
    if (tile_row + a_row < m && k0 + a_step < k) {
      v = load4(&a[(tile_row + a_row) * k + k0 + a_step]);
    }
    As[a_step + 0][a_row] = v.x;
    As[a_step + 1][a_row] = v.y;
    As[a_step + 2][a_row] = v.z;
    As[a_step + 3][a_row] = v.w;
    float4 w = {};
    if (k0 + b_step < k && tile_col + b_col < n) {
      w = load4(&b[(k0 + b_step) * n + tile_col + b_col]);
    }
    store_shared4(&Bs[b_step][b_col], w);
    //@ end
    __syncthreads();  // the tiles are complete
    //@ todo: as in exercise 06, with two float4 of As and two of Bs in each step
    for (int i = 0; i < BK; ++i) {
      const float4 a0 = load4(&As[i][thread_row]), a1 = load4(&As[i][thread_row + 4]);
      const float4 b0 = load4(&Bs[i][thread_col]), b1 = load4(&Bs[i][thread_col + 4]);
      const float a_frag[TM] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
      const float b_frag[TN] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int r = 0; r < TM; ++r) {
#pragma unroll
        for (int s = 0; s < TN; ++s) acc[r][s] += a_frag[r] * b_frag[s];
      }
    }
    //@ end
    __syncthreads();  // all reads are done
  }
  //@ todo: store two float4 in each row that exists
#pragma unroll
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int s = 0; s < TN; s += 4) {
      const int row = tile_row + thread_row + r, col = tile_col + thread_col + s;
      if (row < m && col < n) {
        *reinterpret_cast<float4*>(&c[row * n + col]) =
            make_float4(acc[r][s], acc[r][s + 1], acc[r][s + 2], acc[r][s + 3]);
      }
    }
  }
  //@ end
}
