// Exercise 14: tensor cores and a pipeline of copies.
//
// Exercise 13 loads a tile through registers, waits for all threads, multiplies, waits again.
// Tensor cores are idle for the latency of memory in every k-block. As in exercise 11, let STAGES -
// 1 tiles be in flight by cp.async while the current one is multiplied.
//
//   wait for tile i | barrier | issue tile i + 3 | multiply tile i | wait for tile i + 1 | ...
//
// Beyond k the copies write zeros: then a group is a tile, and the number of groups in flight tells
// which tile has arrived. Goals: asynchronous copies only, one barrier a tile, and none too many.

#include "learn.cuh"

constexpr int BM = 64, BN = 64, BK = 32, WM = 32, WN = 32;
constexpr int THREADS = (BM / WM) * (BN / WN) * 32;
constexpr int LD = BK + 8, STAGES = 4;

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)}, .block = {THREADS}};
}

/// Issues copies of 64 x 32 elements from (row0, k0) on, in vectors of 8.
__device__ void copy_tile(bfloat16 (*tile)[LD], const bfloat16* from, int rows, int k, int row0,
                          int k0) {
  //@ todo: ptx::cp_async<16> for each vector; beyond the edges zeros
  for (int i = threadIdx.x; i < 64 * BK / 8; i += THREADS) {
    const int row = i / (BK / 8), step = i % (BK / 8) * 8;
    const bool is_there = row0 + row < rows && k0 + step < k;
    const bfloat16* source = is_there ? &from[(row0 + row) * k + k0 + step] : from;
    ptx::cp_async<16>(ptx::cvta_to_shared(&tile[row][step]), source, is_there ? 16 : 0);
  }
  //@ end
}

__global__ void gemm(int m, int n, int k, const bfloat16* a, const bfloat16* b, float* c) {
  alignas(16) __shared__ bfloat16 As[STAGES][BM][LD];
  alignas(16) __shared__ bfloat16 Bs[STAGES][BN][LD];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;
  const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;

  float acc[WM / 16][WN / 8][4] = {};
  const auto multiply = [&](int stage) {
#pragma unroll
    for (int i = 0; i < BK; i += 16) {
      uint32_t a_frag[WM / 16][4], b_frag[WN / 16][4];
      const int matrix = lane / 8, row = lane % 8;
#pragma unroll
      for (int r = 0; r < WM / 16; ++r) {
        const auto* from = &As[stage][warp_row + r * 16 + matrix % 2 * 8 + row][i + matrix / 2 * 8];
        ptx::ldmatrix_x4<false>(a_frag[r], ptx::cvta_to_shared(from));
      }
#pragma unroll
      for (int s = 0; s < WN / 16; ++s) {
        const auto* from = &Bs[stage][warp_col + s * 16 + matrix / 2 * 8 + row][i + matrix % 2 * 8];
        ptx::ldmatrix_x4<false>(b_frag[s], ptx::cvta_to_shared(from));
      }
#pragma unroll
      for (int r = 0; r < WM / 16; ++r) {
#pragma unroll
        for (int s = 0; s < WN / 8; ++s) {
          ptx::mma_m16n8k16<bfloat16>(acc[r][s], a_frag[r], &b_frag[s / 2][s % 2 * 2]);
        }
      }
    }
  };

  //@ todo: the first STAGES - 1 tiles, then the loop of the pipeline
  for (int stage = 0; stage < STAGES - 1; ++stage) {
    copy_tile(As[stage], a, m, k, tile_row, stage * BK);
    copy_tile(Bs[stage], b, n, k, tile_col, stage * BK);
    ptx::cp_async_commit_group();
  }
  int now = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    ptx::cp_async_wait_group<STAGES - 2>();  // this thread's part of the tile is there
    __syncthreads();                         // and that of all; the stage before is free
    const int next = (now + STAGES - 1) % STAGES;
    copy_tile(As[next], a, m, k, tile_row, k0 + (STAGES - 1) * BK);
    copy_tile(Bs[next], b, n, k, tile_col, k0 + (STAGES - 1) * BK);
    ptx::cp_async_commit_group();
    multiply(now);
    now = (now + 1) % STAGES;
  }
  //@ end
#pragma unroll
  for (int r = 0; r < WM / 16; ++r) {
#pragma unroll
    for (int s = 0; s < WN / 8; ++s) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = tile_row + warp_row + r * 16 + lane / 4 + i / 2 * 8;
        const int col = tile_col + warp_col + s * 8 + lane % 4 * 2 + i % 2;
        if (row < m && col < n) c[row * n + col] = acc[r][s][i];
      }
    }
  }
}
