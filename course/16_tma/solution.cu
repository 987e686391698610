// Exercise 16: TMA.
//
// In exercise 15 all threads compute addresses, compare them with the edges, load and store. The
// TMA unit does that for a whole tile: one thread names a tensor map, the tile's coordinates and an
// mbarrier. The unit writes the tile to shared memory, swizzled, with zeros beyond the edges, and
// reports its bytes to the mbarrier. Several stages are in flight.
//
//   thread 0:  expect 16 KiB ----> mbarrier full[stage] <-- TMA: bytes arrive
//                                        |
//   all threads: wait for its phase -----+----> wgmma from this stage ---> barrier, then refill
//
//   ptx::mbarrier_init(bar, 1), ptx::fence_mbarrier_init()    by one thread, then __syncthreads()
//   ptx::mbarrier_arrive_expect_tx(bar, bytes)                one arrival, and expected bytes
//   ptx::tma_load_2d(to, map, k0, row, bar)                   a box of 64 steps by box_rows rows
//   ptx::mbarrier_wait_parity(bar, parity)                    parity 0 first, then 1, 0, ...
//   PipelineState<STAGES> s: s.stage, s.parity, s.advance()
//
// bar and to are addresses by ptx::cvta_to_shared. k is a multiple of 8. Goals: every tile by TMA,
// and no load from global memory by a thread.

#include "learn.cuh"

constexpr int BM = 64, BN = 64, BK = 64, STAGES = 2, THREADS = 128;
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
  __shared__ uint64_t full[STAGES];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;

  //@ todo: one thread initialises the mbarriers; then all may use them
  if (threadIdx.x == 0) {
    for (auto& barrier : full) ptx::mbarrier_init(ptx::cvta_to_shared(&barrier), 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  //@ end

  const auto load = [&](int stage, int k0) {
    //@ todo: one thread expects the bytes of both tiles and issues both loads, if k0 < k
    if (threadIdx.x != 0 || k0 >= k) return;
    const uint32_t barrier = ptx::cvta_to_shared(&full[stage]);
    ptx::mbarrier_arrive_expect_tx(barrier, sizeof As[0] + sizeof Bs[0]);
    ptx::tma_load_2d(ptx::cvta_to_shared(As[stage]), a, k0, tile_row, barrier);
    ptx::tma_load_2d(ptx::cvta_to_shared(Bs[stage]), b, k0, tile_col, barrier);
    //@ end
  };
  for (int stage = 0; stage < STAGES; ++stage) load(stage, stage * BK);

  float acc[BN / 8][4] = {};
  PipelineState<STAGES> state;
  for (int k0 = 0; k0 < k; k0 += BK) {
    //@ todo: wait for the tiles
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
    ptx::wgmma_wait_group<0>(acc);
    //@ todo: refill the stage when all threads are done with it, and go on to the next
    __syncthreads();  // all reads are done
    load(state.stage, k0 + STAGES * BK);
    state.advance();
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
