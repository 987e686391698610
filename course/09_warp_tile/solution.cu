// Exercise 09: a nearly square tile for each warp.
//
// In exercise 08 a warp is 2 x 16 threads: it computes 16 rows and 128 columns, and reads 16 + 128
// different words in each step. Shared memory delivers a word once to all lanes that ask for it in
// the same wavefront. Threads in 8 x 4 compute 64 rows and 32 columns, from 64 + 32 words.
//
//   exercise 08: 8 warps, 16 x 128 each      here: 8 warps, 64 x 32 each
//   +----------------+                       +---+---+---+---+
//   +----------------+                       | 0 | 1 | 2 | 3 |
//   ...                                      +---+---+---+---+
//   +----------------+                       | 4 | 5 | 6 | 7 |
//   +----------------+                       +---+---+---+---+
//
// Loads of 16 bytes serve two quarters of a warp at once if lanes 2i and 2i + 1 share a column, and
// lanes 2i and 2i + 2 a row. Goals: 8 wavefronts for 64 FMAs, and no bank conflicts.

#include "learn.cuh"

constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constexpr int WM = 64, WN = 32;  // of a warp
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int LDA = BM + 4, LDB = BN;

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
  //@ todo: the first row and column of this thread, and how far on its second vectors are
  //@ | const int thread_row = t / 16 * 4, thread_col = t % 16 * 4;
  //@ | constexpr int next_row = BM / 2, next_col = BN / 2;
  const int warp = t / 32, lane = t % 32;
  const int thread_row = warp / (BN / WN) * WM + (lane / 8 * 2 + lane % 2) * 4;
  const int thread_col = warp % (BN / WN) * WN + lane / 2 % 4 * 4;
  constexpr int next_row = WM / 2, next_col = WN / 2;
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
      const float4 a0 = load4(&As[i][thread_row]), a1 = load4(&As[i][thread_row + next_row]);
      const float4 b0 = load4(&Bs[i][thread_col]), b1 = load4(&Bs[i][thread_col + next_col]);
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
      const int row = tile_row + thread_row + r / 4 * next_row + r % 4;
      const int col = tile_col + thread_col + s / 4 * next_col;
      if (row < m && col < n) {
        *reinterpret_cast<float4*>(&c[row * n + col]) =
            make_float4(acc[r][s], acc[r][s + 1], acc[r][s + 2], acc[r][s + 3]);
      }
    }
  }
}
