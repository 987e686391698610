// Exercise 06: a tile of results for each thread.
//
// A column of 8 results needs 9 loads for 8 FMAs. A square of 8 x 8 results needs 8 elements of A
// and 8 of B in each step, and multiplies each with each: an outer product in registers.
//
//             b_frag[0] ... b_frag[7]
//   a_frag[0]     *     ...     *
//   ...           acc[8][8]             16 loads for 64 FMAs
//   a_frag[7]     *     ...     *
//
// Goals: at most 16 threadgroup loads for 64 FMAs, and all arrays in registers.

#include <metal_stdlib>

using namespace metal;

constant constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constant constexpr int THREADS = (BM / TM) * (BN / TN);

kernel void gemm(constant int& m [[buffer(0)]], constant int& n [[buffer(1)]],
                 constant int& k [[buffer(2)]], const device float* a [[buffer(3)]],
                 const device float* b [[buffer(4)]], device float* c [[buffer(5)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint index [[thread_index_in_threadgroup]]) {
  threadgroup float As[BM][BK];
  threadgroup float Bs[BK][BN];
  const int t = index;
  const int tile_row = group.y * BM, tile_col = group.x * BN;
  const int thread_row = t / (BN / TN) * TM, thread_col = t % (BN / TN) * TN;

  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    for (int i = t; i < BM * BK; i += THREADS) {
      const int row = tile_row + i / BK, col = k0 + i % BK;
      As[i / BK][i % BK] = row < m && col < k ? a[row * k + col] : 0;
    }
    for (int i = t; i < BK * BN; i += THREADS) {
      const int row = k0 + i / BN, col = tile_col + i % BN;
      Bs[i / BN][i % BN] = row < k && col < n ? b[row * n + col] : 0;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);  // the tiles are complete
    //@ todo: in each of BK steps, TM elements of A and TN of B to registers, then TM x TN FMAs
    for (int i = 0; i < BK; ++i) {
      float a_frag[TM], b_frag[TN];
#pragma unroll
      for (int r = 0; r < TM; ++r) a_frag[r] = As[thread_row + r][i];
#pragma unroll
      for (int s = 0; s < TN; ++s) b_frag[s] = Bs[i][thread_col + s];
#pragma unroll
      for (int r = 0; r < TM; ++r) {
#pragma unroll
        for (int s = 0; s < TN; ++s) acc[r][s] += a_frag[r] * b_frag[s];
      }
    }
    //@ end
    threadgroup_barrier(mem_flags::mem_threadgroup);  // all reads are done
  }
  //@ todo: store the results that exist
#pragma unroll
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int s = 0; s < TN; ++s) {
      const int row = tile_row + thread_row + r, col = tile_col + thread_col + s;
      if (row < m && col < n) c[row * n + col] = acc[r][s];
    }
  }
  //@ end
}
