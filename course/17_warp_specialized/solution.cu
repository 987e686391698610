// Exercise 17: warp specialization.
//
// In exercise 16 every k-block ends with a barrier of the block, and tensor cores wait for it. Let
// one warp only issue loads, and a warpgroup only multiply. They synchronize by two mbarriers per
// stage: `full`, the tiles have arrived; `empty`, they have been read.
//
//   producer (1 thread)                          consumers (128 threads)
//   wait empty[s]                                wait full[s]
//   expect bytes, issue loads into stage s       wgmma on stage s, commit
//   next stage                                   wait until at most one group is at work:
//                                                  the stage before is read: arrive at its empty
//                                                next stage
//
//   A new mbarrier counts as one whose phase of parity 1 has ended: the producer waits for
//   state.parity ^ 1, and finds all stages empty in the first round.
//   ptx::mbarrier_arrive(bar): one arrival. Let one lane of each warp arrive: 4 arrivals a phase.
//
// k is a multiple of 8. Goals: a wgmma group is at work while the next begins, and no barrier of
// the block in the loop.

#include "learn.cuh"

constexpr int BM = 64, BN = 64, BK = 64, STAGES = 2, THREADS = 256;
using Tile = SwizzledTile<64>;

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)},
          .block = {THREADS},
          .a_box_rows = BM,
          .b_box_rows = BN};
}

__global__ void gemm(int m, int n, int k, const TensorMap* a, const TensorMap* b, float* c) {
  alignas(1024) __shared__ bfloat16 As[STAGES][BM * BK];
  alignas(1024) __shared__ bfloat16 Bs[STAGES][BN * BK];
  __shared__ uint64_t full[STAGES], empty[STAGES];
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;
  if (threadIdx.x == 0) {
    for (auto& barrier : full) ptx::mbarrier_init(ptx::cvta_to_shared(&barrier), 1);
    for (auto& barrier : empty) ptx::mbarrier_init(ptx::cvta_to_shared(&barrier), 4);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();

  PipelineState<STAGES> state;
  if (threadIdx.x < 128) {  // the producer's warpgroup
    if (threadIdx.x != 0) return;
    for (int k0 = 0; k0 < k; k0 += BK) {
      //@ todo: wait for an empty stage, and issue its loads
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&empty[state.stage]), state.parity ^ 1);
      const uint32_t barrier = ptx::cvta_to_shared(&full[state.stage]);
      ptx::mbarrier_arrive_expect_tx(barrier, sizeof As[0] + sizeof Bs[0]);
      ptx::tma_load_2d(ptx::cvta_to_shared(As[state.stage]), a, k0, tile_row, barrier);
      ptx::tma_load_2d(ptx::cvta_to_shared(Bs[state.stage]), b, k0, tile_col, barrier);
      //@ end
      state.advance();
    }
    return;
  }

  const int warp = threadIdx.x / 32 - 4, lane = threadIdx.x % 32;
  const auto release = [&](int stage) {
    //@ todo: one lane of the warp arrives
    if (lane == 0) ptx::mbarrier_arrive(ptx::cvta_to_shared(&empty[stage]));
    //@ end
  };
  float acc[BN / 8][4] = {};
  int before = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    //@ todo: wait for a full stage
    ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&full[state.stage]), state.parity);
    //@ end
    ptx::wgmma_fence(acc);
#pragma unroll
    for (int i = 0; i < BK; i += 16) {
      ptx::wgmma_m64k16<bfloat16, false, false>(
          acc, Tile::descriptor(ptx::cvta_to_shared(As[state.stage]), 0, i),
          Tile::descriptor(ptx::cvta_to_shared(Bs[state.stage]), 0, i));
    }
    ptx::wgmma_commit_group();
    //@ todo: when at most one group is at work, release the stage before
    //@ | ptx::wgmma_wait_group<0>(acc);
    ptx::wgmma_wait_group<1>(acc);
    if (k0 > 0) release(before);
    //@ end
    before = state.stage;
    state.advance();
  }
  ptx::wgmma_wait_group<0>(acc);
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
