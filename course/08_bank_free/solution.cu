// Exercise 08: no bank conflicts.
//
// Shared memory has 32 banks of 4 bytes, and serves one word of each in a wavefront. Words of the
// same bank that are not the same word need a wavefront each. Exercise 07 has such conflicts twice:
//
//   loads of Bs:   lane    0        1         2          4         5
//                  words   0..3     8..11     16..19     32..35    40..43
//                  banks   0..3     8..11     16..19     0..3 !    8..11 !
//
//   stores to As:  rows of 128 words: As[0][row] and As[4][row] are in the same bank
//
// Give thread i of a row the columns 4 i to 4 i + 3 and 64 further on, and pad the rows of As.
// Goals: no conflicts at all; all else as in exercise 07.

#include "learn.cuh"

constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constexpr int THREADS = (BM / TM) * (BN / TN);
//@ todo: how long is a row of each tile in shared memory?
//@ | constexpr int LDA = BM, LDB = BN;
constexpr int LDA = BM + 4, LDB = BN;
//@ end

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)}, .block = {THREADS}};
}

__device__ float4 load4(const float* from) { return *reinterpret_cast<const float4*>(from); }

__global__ void __launch_bounds__(THREADS)
    gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  alignas(16) __shared__ float As[BK][LDA];
  alignas(16) __shared__ float Bs[BK][LDB];
  const int t = threadIdx.x;
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;
  //@ todo: the first of this thread's columns, and the distance of its second vector
  //@ | const int thread_row = t / (BN / TN) * TM, thread_col = t % (BN / TN) * TN;
  //@ | constexpr int next = 4;
  const int thread_row = t / (BN / TN) * TM, thread_col = t % (BN / TN) * 4;
  constexpr int next = BN / 2;
  //@ end
  const int a_row = t / 2, a_step = t % 2 * 4;
  const int b_step = t / 32, b_col = t % 32 * 4;

  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
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
    __syncthreads();  // the tiles are complete
    for (int i = 0; i < BK; ++i) {
      const float4 a0 = load4(&As[i][thread_row]), a1 = load4(&As[i][thread_row + 4]);
      const float4 b0 = load4(&Bs[i][thread_col]), b1 = load4(&Bs[i][thread_col + next]);
      const float a_frag[TM] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
      const float b_frag[TN] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int r = 0; r < TM; ++r) {
#pragma unroll
        for (int s = 0; s < TN; ++s) acc[r][s] += a_frag[r] * b_frag[s];
      }
    }
    __syncthreads();  // all reads are done
  }
#pragma unroll
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int s = 0; s < TN; s += 4) {
      const int row = tile_row + thread_row + r, col = tile_col + thread_col + s / 4 * next;
      if (row < m && col < n) {
        *reinterpret_cast<float4*>(&c[row * n + col]) =
            make_float4(acc[r][s], acc[r][s + 1], acc[r][s + 2], acc[r][s + 3]);
      }
    }
  }
}
