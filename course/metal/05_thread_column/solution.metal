// Exercise 05: a column of results for each thread.
//
// In exercise 04, each FMA waits for two loads from threadgroup memory. Let a thread compute 8
// results, one below the other: they need the same element of B, which stays in a register.
//
//                 Bs[i][col]          registers: acc[0] to acc[7]
//                     |
//    As[row+0][i] --> *  acc[0]       9 loads for 8 FMAs, where
//    As[row+1][i] --> *  acc[1]       exercise 04 had 16
//    ...
//    As[row+7][i] --> *  acc[7]
//
// Goals: at most 9 threadgroup loads for 8 FMAs; one load of each element of a tile by the
// threadgroup.

#include <metal_stdlib>

using namespace metal;

constant constexpr int BM = 64, BN = 64, BK = 8, TM = 8;
constant constexpr int THREADS = BM * BN / TM;

kernel void gemm(constant int& m [[buffer(0)]], constant int& n [[buffer(1)]],
                 constant int& k [[buffer(2)]], const device float* a [[buffer(3)]],
                 const device float* b [[buffer(4)]], device float* c [[buffer(5)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint index [[thread_index_in_threadgroup]]) {
  threadgroup float As[BM][BK];
  threadgroup float Bs[BK][BN];
  const int t = index;
  const int tile_row = group.y * BM, tile_col = group.x * BN;
  const int thread_row = t / BN * TM, thread_col = t % BN;

  float acc[TM] = {};
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
    //@ todo: for each of BK steps, one element of B and TM of A: TM FMAs
    for (int i = 0; i < BK; ++i) {
      const float b_frag = Bs[i][thread_col];
#pragma unroll
      for (int r = 0; r < TM; ++r) acc[r] += As[thread_row + r][i] * b_frag;
    }
    //@ end
    threadgroup_barrier(mem_flags::mem_threadgroup);  // all reads are done
  }
  //@ todo: store the TM results that exist
  for (int r = 0; r < TM; ++r) {
    const int row = tile_row + thread_row + r, col = tile_col + thread_col;
    if (row < m && col < n) c[row * n + col] = acc[r];
  }
  //@ end
}
