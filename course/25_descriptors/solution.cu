// Exercise 25: descriptors and swizzles.
//
// TMA has copied the tiles, boxes of 64 elements (128 bytes) by 64 rows with a swizzle of 128
// bytes. wgmma gets no pointer to them, but a descriptor of 64 bits for each operand and k-step.
// In exercises 15 and 16 SwizzledTile::descriptor() made it. Here you write it:
//
//   bits  0-13  start: the address in shared memory, in units of 16 bytes
//   bits 16-29  LBO: not used for swizzled K-major tiles; write 1
//   bits 32-45  SBO: from 8 rows to the next 8, in units of 16 bytes
//   bits 49-51  base offset: 0, because tiles are at multiples of 1024 bytes
//   bits 62-63  swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
//
//          +0  +16  +32  +48  +64  +80  +96 +112     k of the first element of each 16 bytes
//   row 0   0    8   16   24   32   40   48   56     k-step 1: 16 to 31
//   row 1   8    0   24   16   40   32   56   48     the swizzle applies to the whole address:
//   row 2  16   24    0    8   48   56   32   40     start advances as if there were none
//
// k is a multiple of 8. Goals: every tile by TMA, all products in tensor cores.

#include "learn.cuh"

constexpr int BM = 64, BN = 64, BK = 64, THREADS = 128;

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)},
          .block = {THREADS},
          .a_box_rows = BM,
          .b_box_rows = BN};
}

/// The descriptor for 64 rows of a tile and 16 k-steps from k on. `tile` is an address in shared
/// memory.
__device__ uint64_t descriptor(uint32_t tile, int k) {
  //@ todo: start, LBO, SBO and swizzle
  //@ | return 0;
  constexpr uint64_t row_bytes = 128, swizzle_of_128_bytes = 1;
  const uint32_t start = tile + k * sizeof(bfloat16);
  return start >> 4 | 1ull << 16 | (8 * row_bytes >> 4) << 32 | swizzle_of_128_bytes << 62;
  //@ end
}

__global__ void gemm(int m, int n, int k, const TensorMap* a, const TensorMap* b, float* c) {
  alignas(1024) __shared__ bfloat16 As[BM * BK];
  alignas(1024) __shared__ bfloat16 Bs[BN * BK];
  __shared__ uint64_t full;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;
  const uint32_t barrier = ptx::cvta_to_shared(&full);
  const uint32_t tile_a = ptx::cvta_to_shared(As), tile_b = ptx::cvta_to_shared(Bs);
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(barrier, 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();

  float acc[BN / 8][4] = {};
  int parity = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(barrier, sizeof As + sizeof Bs);
      ptx::tma_load_2d(tile_a, a, k0, tile_row, barrier);
      ptx::tma_load_2d(tile_b, b, k0, tile_col, barrier);
    }
    ptx::mbarrier_wait_parity(barrier, parity);
    parity ^= 1;
    ptx::wgmma_fence(acc);
#pragma unroll
    for (int i = 0; i < BK; i += 16) {
      ptx::wgmma_m64k16<bfloat16, false, false>(acc, descriptor(tile_a, i), descriptor(tile_b, i));
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>(acc);
    __syncthreads();  // all reads are done
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
