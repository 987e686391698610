// Exercise 13: tensor cores.
//
// C = A B^T in f32, of matrices in bf16: A has m rows of k elements, and B here has n rows of k. A
// warp multiplies 16 x 16 by 16 x 8 elements in one instruction: 2048 products. Its operands are
// fragments in registers, which ldmatrix loads from shared memory: four 8 x 8 matrices at a time.
//
//   ldmatrix: lane l gives the address of row l % 8 of matrix l / 8    a: matrices (row, k)
//                                                                      +-----------+-----------+
//   A's four:  0 (0, 0)  1 (8, 0)  2 (0, 8)  3 (8, 8)                  | 0 (0, 0)  | 2 (0, 8)  |
//   B's four:  0 (0, 0)  1 (0, 8)  2 (8, 0)  3 (8, 8)                  | 1 (8, 0)  | 3 (8, 8)  |
//   of 16 columns of C: two b fragments                                +-----------+-----------+
//
//   ptx::ldmatrix_x4<false>(to, address)                 uint32_t to[4]
//   ptx::mma_m16n8k16<bfloat16>(d, a, b)                 float d[4], uint32_t a[4], b[2]
//   d[0], d[1]: row lane / 4, columns lane % 4 * 2 and the next; d[2], d[3]: 8 rows below
//
// k is a multiple of 8. Goals: all products in tensor cores, and no conflicts of loads.

#include "learn.cuh"

constexpr int BM = 64, BN = 64, BK = 32, WM = 32, WN = 32;
constexpr int THREADS = (BM / WM) * (BN / WN) * 32;
//@ todo: the length of a row in shared memory; 8 rows of 16 bytes must lie in different banks
//@ | constexpr int LD = BK;
constexpr int LD = BK + 8;
//@ end

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)}, .block = {THREADS}};
}

/// 64 x 32 elements from (row0, k0) on to shared memory, in vectors of 8; zeros beyond the edges.
__device__ void load_tile(bfloat16 (*tile)[LD], const bfloat16* from, int rows, int k, int row0,
                          int k0) {
  for (int i = threadIdx.x; i < 64 * BK / 8; i += THREADS) {
    const int row = i / (BK / 8), step = i % (BK / 8) * 8;
    float4 v = {};
    if (row0 + row < rows && k0 + step < k) {
      v = *reinterpret_cast<const float4*>(&from[(row0 + row) * k + k0 + step]);
    }
    store_shared4(reinterpret_cast<float*>(&tile[row][step]), v);
  }
}

__global__ void gemm(int m, int n, int k, const bfloat16* a, const bfloat16* b, float* c) {
  alignas(16) __shared__ bfloat16 As[BM][LD];
  alignas(16) __shared__ bfloat16 Bs[BN][LD];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;
  const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;

  float acc[WM / 16][WN / 8][4] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    load_tile(As, a, m, k, tile_row, k0);
    load_tile(Bs, b, n, k, tile_col, k0);
    __syncthreads();  // the tiles are complete
    //@ todo: for each 16 steps, load the fragments and multiply each of A with each of B
#pragma unroll
    for (int i = 0; i < BK; i += 16) {
      uint32_t a_frag[WM / 16][4], b_frag[WN / 16][4];
      const int matrix = lane / 8, row = lane % 8;
#pragma unroll
      for (int r = 0; r < WM / 16; ++r) {
        const auto* from = &As[warp_row + r * 16 + matrix % 2 * 8 + row][i + matrix / 2 * 8];
        ptx::ldmatrix_x4<false>(a_frag[r], ptx::cvta_to_shared(from));
      }
#pragma unroll
      for (int s = 0; s < WN / 16; ++s) {
        const auto* from = &Bs[warp_col + s * 16 + matrix / 2 * 8 + row][i + matrix % 2 * 8];
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
    //@ end
    __syncthreads();  // all reads are done
  }
  //@ todo: store the results of each fragment that exist
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
  //@ end
}
