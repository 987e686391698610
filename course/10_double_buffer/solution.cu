// Exercise 10: double buffering.
//
// In exercise 09 nothing is loaded while a tile is multiplied, and nothing is multiplied while one
// is loaded: a load from memory takes hundreds of cycles. Let each thread load its vectors of the
// next tile into registers, multiply the current tile, then store the registers to a second buffer
// in shared memory. One barrier a tile is enough.
//
//   load tile 0, store to buffer 0
//   barrier | load 1 ............ | multiply 0 | store 1 to buffer 1
//   barrier | load 2 ............ | multiply 1 | store 2 to buffer 0
//   barrier | ...
//
// Goals: 512 FMAs of a warp, those of a tile, between a load and the use of its value; one barrier
// a tile.

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
  alignas(16) __shared__ float As[2][BK][LDA];
  alignas(16) __shared__ float Bs[2][BK][LDB];
  const int t = threadIdx.x;
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;
  const int warp = t / 32, lane = t % 32;
  const int thread_row = warp / (BN / WN) * WM + (lane / 8 * 2 + lane % 2) * 4;
  const int thread_col = warp % (BN / WN) * WN + lane / 2 % 4 * 4;
  constexpr int next_row = WM / 2, next_col = WN / 2;
  const int a_row = t / 2, a_step = t % 2 * 4;
  const int b_step = t / 32, b_col = t % 32 * 4;

  // Loads the tile at k0 to registers; store() writes it to a buffer.
  float4 v, w;
  const auto load = [&](int k0) {
    v = w = float4{};
    if (tile_row + a_row < m && k0 + a_step < k) {
      v = load4(&a[(tile_row + a_row) * k + k0 + a_step]);
    }
    if (k0 + b_step < k && tile_col + b_col < n) {
      w = load4(&b[(k0 + b_step) * n + tile_col + b_col]);
    }
  };
  const auto store = [&](int buffer) {
    As[buffer][a_step + 0][a_row] = v.x;
    As[buffer][a_step + 1][a_row] = v.y;
    As[buffer][a_step + 2][a_row] = v.z;
    As[buffer][a_step + 3][a_row] = v.w;
    store_shared4(&Bs[buffer][b_step][b_col], w);
  };

  float acc[TM][TN] = {};
  const auto multiply = [&](int buffer) {
    for (int i = 0; i < BK; ++i) {
      const float* const as = As[buffer][i];
      const float* const bs = Bs[buffer][i];
      const float4 a0 = load4(&as[thread_row]), a1 = load4(&as[thread_row + next_row]);
      const float4 b0 = load4(&bs[thread_col]), b1 = load4(&bs[thread_col + next_col]);
      const float a_frag[TM] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
      const float b_frag[TN] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int r = 0; r < TM; ++r) {
#pragma unroll
        for (int s = 0; s < TN; ++s) acc[r][s] += a_frag[r] * b_frag[s];
      }
    }
  };

  //@ todo: overlap the loads of the next tile with the multiplication of this one
  //@ | for (int k0 = 0; k0 < k; k0 += BK) {
  //@ |   load(k0);
  //@ |   store(0);
  //@ |   __syncthreads();
  //@ |   multiply(0);
  //@ |   __syncthreads();
  //@ | }
  load(0);
  store(0);
  int now = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    __syncthreads();  // this buffer is complete, and the other one is not read any more
    const bool more = k0 + BK < k;
    if (more) load(k0 + BK);
    multiply(now);
    now = 1 - now;
    if (more) store(now);
  }
  //@ end
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
