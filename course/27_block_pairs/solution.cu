// Exercise 27: pairs of blocks.
//
// Two blocks of a cluster multiply with one instruction, tcgen05.mma.cta_group::2. Each has 128 rows
// of A and of the result, and half of the columns of B in its shared memory: the instruction reads
// B from both. So a block loads half as much of B as it would alone.
//
//                  B, 64 columns of block 0   B, 64 columns of block 1
//   A of block 0   sums of block 0: 128 rows x 128 columns, in its tensor memory
//   A of block 1   sums of block 1: 128 rows x 128 columns, in its own
//
// Thread 0 of each block loads that block's tiles. Thread 0 of block 0, the leader, multiplies for
// both, so it must know that the tiles of both have arrived, and both must know when the products
// are complete:
//
//   mapa(barrier, 0)                        the leader's mbarrier, from either block
//   tma_load_2d_of_pair(to, map, x, y, b)   its bytes complete at an mbarrier of either block
//   mbarrier_arrive_expect_tx(b, bytes)     here by the leader alone, for the bytes of both blocks
//   tcgen05_mma_f16<2>, tcgen05_form(2 * BM, BN)
//   tcgen05_commit_multicast(b, 0b11)       arrives at this mbarrier of both blocks
//
// k is a multiple of 8. Goals: every tile by TMA, all products in tensor cores.

#include "learn.cuh"

constexpr int BM = 128, BN = 128, BK = 64, THREADS = 128;

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {2 * ceil_div(n, BN), ceil_div(m, 2 * BM)},
          .block = {THREADS},
          .a_box_rows = BM,
          .b_box_rows = BN / 2,
          .cluster = {2}};
}

__global__ void gemm(int m, int n, int k, const TensorMap* a, const TensorMap* b, float* c) {
  alignas(1024) __shared__ bfloat16 As[BM * BK];
  alignas(1024) __shared__ bfloat16 Bs[BN / 2 * BK];
  __shared__ uint64_t full, done;
  __shared__ uint32_t address;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int rank = ptx::cluster_ctarank();  // 0: the leader
  const int tile_row = (2 * blockIdx.y + rank) * BM, tile_col = blockIdx.x / 2 * BN;
  const uint32_t tile_a = ptx::cvta_to_shared(As), tile_b = ptx::cvta_to_shared(Bs);
  const uint32_t loaded = ptx::cvta_to_shared(&full), multiplied = ptx::cvta_to_shared(&done);
  if (warp == 0) ptx::tcgen05_alloc<BN, 2>(ptx::cvta_to_shared(&address));
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(loaded, 1);
    ptx::mbarrier_init(multiplied, 1);
    ptx::fence_mbarrier_init();
  }
  ptx::barrier_cluster_arrive_wait();
  const uint32_t sums = address;

  int parity = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    if (threadIdx.x == 0) {
      //@ todo: load both tiles; their bytes complete at the leader's mbarrier, which expects all
      //@ | if (rank == 0) ptx::mbarrier_arrive(loaded);
      const uint32_t of_leader = ptx::mapa(loaded, 0);
      if (rank == 0) ptx::mbarrier_arrive_expect_tx(loaded, 2 * (sizeof As + sizeof Bs));
      ptx::tma_load_2d_of_pair(tile_a, a, k0, tile_row, of_leader);
      ptx::tma_load_2d_of_pair(tile_b, b, k0, tile_col + rank * (BN / 2), of_leader);
      //@ end
    }
    if (threadIdx.x == 0 && rank == 0) {
      ptx::mbarrier_wait_parity(loaded, parity);
      //@ todo: multiply for both blocks, and let both know when that is complete
      //@ | ptx::mbarrier_arrive_cluster(multiplied, 0);
      //@ | ptx::mbarrier_arrive_cluster(multiplied, 1);
      constexpr uint32_t form = tcgen05_form(2 * BM, BN);
      for (int i = 0; i < BK; i += 16) {
        ptx::tcgen05_mma_f16<2>(sums, tcgen05_matrix(tile_a, i), tcgen05_matrix(tile_b, i), form,
                                k0 + i > 0);
      }
      ptx::tcgen05_commit_multicast(multiplied, 0b11);
      //@ end
    }
    ptx::mbarrier_wait_parity(multiplied, parity);
    parity ^= 1;
  }

  for (int j = 0; j < BN; j += 32) {
    float row_sums[32];
    ptx::tcgen05_ld(row_sums, sums + (warp * 32 << 16) + j);
    ptx::tcgen05_wait_ld(row_sums);
    const int row = tile_row + warp * 32 + lane;
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const int col = tile_col + j + i;
      if (row < m && col < n) c[row * n + col] = row_sums[i];
    }
  }
  ptx::barrier_cluster_arrive_wait();  // neither block may exit or release before both are done
  if (warp == 0) ptx::tcgen05_dealloc<BN, 2>(sums);
}
