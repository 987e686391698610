// Exercise 15: wgmma.
//
// With mma.sync, every fragment passes through registers. A warpgroup, four warps of 32 threads,
// issues wgmma. One instruction multiplies 64 rows of A by 64 rows of B (the columns of C) over
// 16 k-steps, and reads both from shared memory. Descriptors give it the addresses of the tiles.
// Rows of a tile have 128 bytes, and their 16-byte chunks are swizzled:
//
//   row 0:  chunk 0 1 2 3 4 5 6 7        chunk i of row r is at i ^ (r % 8): a column of
//   row 1:  chunk 1 0 3 2 5 4 7 6        chunks is in 8 different groups of banks
//   row 2:  chunk 2 3 0 1 6 7 4 5        SwizzledTile<64>::at(r, k) is the index of element (r, k)
//
//   ptx::fence_proxy_async()             this thread's stores are visible to wgmma, after a barrier
//   ptx::wgmma_fence(acc)                orders this warp's accesses of acc before wgmma
//   ptx::wgmma_m64k16<bfloat16, false, false>(acc, da, db)    float acc[8][4]
//     da = SwizzledTile<64>::descriptor(address of the tile, row, k), db likewise
//   ptx::wgmma_commit_group(), ptx::wgmma_wait_group<N>(acc)  wait until at most N are in flight
//   acc[j][i]: row warp * 16 + lane / 4 + i / 2 * 8, column j * 8 + lane % 4 * 2 + i % 2
//
// k is a multiple of 8. Goals: all products in tensor cores, 3 instructions for 1000 of them.

#include "learn.cuh"

constexpr int BM = 64, BN = 64, BK = 64, THREADS = 128;
using Tile = SwizzledTile<64>;

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)}, .block = {THREADS}};
}

/// Loads 64 x 64 elements from (row0, k0) on in vectors of 8; stores zeros beyond the edges.
__device__ void load_tile(bfloat16* tile, const bfloat16* from, int rows, int k, int row0, int k0) {
#pragma unroll
  for (int i = threadIdx.x; i < 64 * BK / 8; i += THREADS) {
    const int row = i / (BK / 8), step = i % (BK / 8) * 8;
    float4 v = {};
    if (row0 + row < rows && k0 + step < k) {
      v = *reinterpret_cast<const float4*>(&from[(row0 + row) * k + k0 + step]);
    }
    //@ todo: store v where wgmma reads it
    store_shared4(reinterpret_cast<float*>(&tile[Tile::at(row, step)]), v);
    //@ end
  }
}

__global__ void gemm(int m, int n, int k, const bfloat16* a, const bfloat16* b, float* c) {
  alignas(1024) __shared__ bfloat16 As[BM * BK];
  alignas(1024) __shared__ bfloat16 Bs[BN * BK];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;

  float acc[BN / 8][4] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    load_tile(As, a, m, k, tile_row, k0);
    load_tile(Bs, b, n, k, tile_col, k0);
    //@ todo: make the tiles visible to wgmma and complete, multiply 4 times 16 steps, wait
    ptx::fence_proxy_async();
    __syncthreads();  // the tiles are complete
    ptx::wgmma_fence(acc);
#pragma unroll
    for (int i = 0; i < BK; i += 16) {
      ptx::wgmma_m64k16<bfloat16, false, false>(acc,
                                                Tile::descriptor(ptx::cvta_to_shared(As), 0, i),
                                                Tile::descriptor(ptx::cvta_to_shared(Bs), 0, i));
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>(acc);
    __syncthreads();  // all reads are done
    //@ end
  }
#pragma unroll
  for (int j = 0; j < BN / 8; ++j) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = tile_row + warp * 16 + lane / 4 + i / 2 * 8;
      const int col = tile_col + j * 8 + lane % 4 * 2 + i % 2;
      if (row < m && col < n) c[row * n + col] = acc[j][i];
    }
  }
}
