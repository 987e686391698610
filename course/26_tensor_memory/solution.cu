// Exercise 26: tensor memory.
//
// On Blackwell (sm_100a), sums are not in registers: tcgen05.mma adds them up in tensor memory, 128
// lanes of 512 columns of 32 bits for each SM. An address has the column in bits 0 to 15 and the
// lane in bits 16 to 31. Row i of a tile of 128 rows is lane i, and column j of the tile is a column.
//
//   one warp    tcgen05_alloc<COLUMNS>       columns, a power of two of at least 32
//   one thread  tcgen05_mma_f16              starts sums = A B or sums += A B, 16 k-steps
//   one thread  tcgen05_commit(barrier)      arrives at the mbarrier when its products are complete
//   four warps  tcgen05_ld, tcgen05_wait_ld  each loads its own 32 lanes of 32 columns
//   one warp    tcgen05_dealloc<COLUMNS>     before the block ends
//
//              columns  0 ... 31   32 ... 63
//   lanes   0 ...  31   warp 0     warp 0       a warp reaches no other lanes
//   lanes  32 ...  63   warp 1     warp 1
//   lanes  64 ...  95   warp 2     warp 2
//   lanes  96 ... 127   warp 3     warp 3
//
// Thread 0 loads the tiles and multiplies; all threads store. k is a multiple of 8. The instruction
// descriptor `form` says how many rows and columns are multiplied. Goals: every tile by TMA, all
// products in tensor cores.

#include "learn.cuh"

constexpr int BM = 128, BN = 64, BK = 64, THREADS = 128;

constexpr Launch launch(int m, int n, int k) {
  return {.grid = {ceil_div(n, BN), ceil_div(m, BM)},
          .block = {THREADS},
          .a_box_rows = BM,
          .b_box_rows = BN};
}

__global__ void gemm(int m, int n, int k, const TensorMap* a, const TensorMap* b, float* c) {
  alignas(1024) __shared__ bfloat16 As[BM * BK];
  alignas(1024) __shared__ bfloat16 Bs[BN * BK];
  __shared__ uint64_t full, done;
  __shared__ uint32_t address;
  constexpr uint32_t form = tcgen05_form(BM, BN);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int tile_row = blockIdx.y * BM, tile_col = blockIdx.x * BN;
  const uint32_t tile_a = ptx::cvta_to_shared(As), tile_b = ptx::cvta_to_shared(Bs);
  const uint32_t loaded = ptx::cvta_to_shared(&full), multiplied = ptx::cvta_to_shared(&done);
  if (warp == 0) ptx::tcgen05_alloc<BN>(ptx::cvta_to_shared(&address));
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(loaded, 1);
    ptx::mbarrier_init(multiplied, 1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  const uint32_t sums = address;

  int parity = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(loaded, sizeof As + sizeof Bs);
      ptx::tma_load_2d(tile_a, a, k0, tile_row, loaded);
      ptx::tma_load_2d(tile_b, b, k0, tile_col, loaded);
      ptx::mbarrier_wait_parity(loaded, parity);
      //@ todo: multiply the BK k-steps, 16 at a time, and let `multiplied` know when that is complete
      //@ | ptx::mbarrier_arrive(multiplied);
      for (int i = 0; i < BK; i += 16) {
        ptx::tcgen05_mma_f16(sums, tcgen05_matrix(tile_a, i), tcgen05_matrix(tile_b, i), form,
                             k0 + i > 0);
      }
      ptx::tcgen05_commit(multiplied);
      //@ end
    }
    ptx::mbarrier_wait_parity(multiplied, parity);
    parity ^= 1;
  }

  for (int j = 0; j < BN; j += 32) {
    float row_sums[32];
    //@ todo: load this warp's lanes of columns j to j + 31, and wait for them
    //@ | for (float& sum : row_sums) sum = 0;
    ptx::tcgen05_ld(row_sums, sums + (warp * 32 << 16) + j);
    ptx::tcgen05_wait_ld(row_sums);
    //@ end
    const int row = tile_row + warp * 32 + lane;
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      const int col = tile_col + j + i;
      if (row < m && col < n) c[row * n + col] = row_sums[i];
    }
  }
  //@ todo: release the columns, when all warps have loaded
  //@ |
  __syncthreads();
  if (warp == 0) ptx::tcgen05_dealloc<BN>(sums);
  //@ end
}
