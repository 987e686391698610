// Exercise 11: asynchronous copies.
//
// In exercise 10 the tile in flight occupies registers, so only one can be. cp.async copies from
// global to shared memory without a register: the thread goes on, and waits for its copies in
// groups. Several tiles are in flight at once, each in a stage of a circular buffer.
//
//   stage    0        1        2        3
//           tile 0   tile 1   tile 2   (free)      STAGES = 4, three tiles in flight
//            ^ multiply                 ^ the next copy goes here
//
//   ptx::cp_async<16>(to, from, bytes)    copies 16 bytes; those from `bytes` on become zeros
//   ptx::cp_async<4>(to, from, bytes)     the same for 4 bytes; `to` is ptx::cvta_to_shared(&...)
//   ptx::cp_async_commit_group()          the copies since the last one are a group
//   ptx::cp_async_wait_group<N>()         until at most N groups of this thread are in flight
//
// Goals: every element of A and B by an asynchronous copy; one barrier a tile, and none too many.

#include "learn.cuh"

constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constexpr int WM = 64, WN = 32;  // of a warp
constexpr int THREADS = (BM / TM) * (BN / TN);
constexpr int LDA = BM + 4, LDB = BN;
constexpr int STAGES = 4;

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)}, .block = {THREADS}};
}

__device__ float4 load4(const float* from) { return *reinterpret_cast<const float4*>(from); }

__global__ void __launch_bounds__(THREADS)
    gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  alignas(16) __shared__ float As[STAGES][BK][LDA];
  alignas(16) __shared__ float Bs[STAGES][BK][LDB];
  const int t = threadIdx.x;
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;
  const int warp = t / 32, lane = t % 32;
  const int thread_row = warp / (BN / WN) * WM + (lane / 8 * 2 + lane % 2) * 4;
  const int thread_col = warp % (BN / WN) * WN + lane / 2 % 4 * 4;
  constexpr int next_row = WM / 2, next_col = WN / 2;
  const int a_row = t / 2, a_step = t % 2 * 4;
  const int b_step = t / 32, b_col = t % 32 * 4;

  // Issues this thread's copies of the tile at k0: four elements of A, whose place is transposed,
  // and a vector of B. Beyond the edges nothing is read, and zeros are written.
  const auto copy = [&](int stage, int k0) {
    //@ todo: four copies of 4 bytes from A, one of 16 bytes from B, and commit them as a group
    const bool has_a = tile_row + a_row < m && k0 + a_step < k;
    const float* const from_a = has_a ? &a[(tile_row + a_row) * k + k0 + a_step] : a;
    for (int i = 0; i < 4; ++i) {
      ptx::cp_async<4>(ptx::cvta_to_shared(&As[stage][a_step + i][a_row]), from_a + i * has_a,
                       has_a ? 4 : 0);
    }
    const bool has_b = k0 + b_step < k && tile_col + b_col < n;
    const float* const from_b = has_b ? &b[(k0 + b_step) * n + tile_col + b_col] : b;
    ptx::cp_async<16>(ptx::cvta_to_shared(&Bs[stage][b_step][b_col]), from_b, has_b ? 16 : 0);
    ptx::cp_async_commit_group();
    //@ end
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

  //@ todo: STAGES - 1 tiles set out before the loop; in it: wait, barrier, copy, multiply
  for (int stage = 0; stage < STAGES - 1; ++stage) copy(stage, stage * BK);
  int now = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    ptx::cp_async_wait_group<STAGES - 2>();  // this thread's copies of this tile are there
    __syncthreads();                         // and those of all others; the stage before is free
    copy((now + STAGES - 1) % STAGES, k0 + (STAGES - 1) * BK);
    multiply(now);
    now = (now + 1) % STAGES;
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
