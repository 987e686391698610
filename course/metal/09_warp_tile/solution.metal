// Exercise 09: a nearly square tile for each simdgroup.
//
// In exercise 08 a simdgroup is 2 x 16 threads: it computes 16 rows and 128 columns, and reads 16 +
// 128 different words in each step. Threadgroup memory delivers a word once to all lanes that ask for
// it in the same wavefront. Threads in 8 x 4 compute 64 rows and 32 columns, from 64 + 32 words.
//
//   exercise 08: 8 simdgroups, 16 x 128      here: 8 simdgroups, 64 x 32
//   +----------------+                       +---+---+---+---+
//   +----------------+                       | 0 | 1 | 2 | 3 |
//   ...                                      +---+---+---+---+
//   +----------------+                       | 4 | 5 | 6 | 7 |
//   +----------------+                       +---+---+---+---+
//
// Loads of 16 bytes serve two quarters of a simdgroup at once if lanes 2i and 2i + 1 share a column,
// and lanes 2i and 2i + 2 a row. Goals: 8 wavefronts for 64 FMAs, and no bank conflicts.

#include <metal_stdlib>

using namespace metal;

constant constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constant constexpr int WM = 64, WN = 32;  // of a simdgroup
constant constexpr int THREADS = (BM / TM) * (BN / TN);
constant constexpr int LDA = BM + 4;

// A vector at four neighbours, whose address must be a multiple of 16 bytes.
const device float4& vector_at(const device float* first) {
  return *reinterpret_cast<const device float4*>(first);
}

kernel void gemm(constant int& m [[buffer(0)]], constant int& n [[buffer(1)]],
                 constant int& k [[buffer(2)]], const device float* a [[buffer(3)]],
                 const device float* b [[buffer(4)]], device float* c [[buffer(5)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint index [[thread_index_in_threadgroup]]) {
  threadgroup float4 As[BK][LDA / 4];
  threadgroup float4 Bs[BK][BN / 4];
  threadgroup float* const a_tile = reinterpret_cast<threadgroup float*>(As);  // element by element
  const int t = index;
  const int tile_row = group.y * BM, tile_col = group.x * BN;
  //@ todo: the first row and column of this thread, and how far on its second vectors are
  //@ | const int thread_row = t / 16 * 4, thread_col = t % 16 * 4;
  //@ | const int next_row = BM / 2, next_col = BN / 2;
  const int simdgroup = t / 32, lane = t % 32;
  const int thread_row = simdgroup / (BN / WN) * WM + (lane / 8 * 2 + lane % 2) * 4;
  const int thread_col = simdgroup % (BN / WN) * WN + lane / 2 % 4 * 4;
  const int next_row = WM / 2, next_col = WN / 2;
  //@ end
  const int a_row = t / 2, a_step = t % 2 * 4;
  const int b_step = t / 32, b_col = t % 32 * 4;

  float4 acc[TM][TN / 4] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    float4 v = 0;
    if (tile_row + a_row < m && k0 + a_step < k) {
      v = vector_at(&a[(tile_row + a_row) * k + k0 + a_step]);
    }
    a_tile[(a_step + 0) * LDA + a_row] = v.x;
    a_tile[(a_step + 1) * LDA + a_row] = v.y;
    a_tile[(a_step + 2) * LDA + a_row] = v.z;
    a_tile[(a_step + 3) * LDA + a_row] = v.w;
    float4 w = 0;
    if (k0 + b_step < k && tile_col + b_col < n) {
      w = vector_at(&b[(k0 + b_step) * n + tile_col + b_col]);
    }
    Bs[b_step][b_col / 4] = w;
    threadgroup_barrier(mem_flags::mem_threadgroup);  // the tiles are complete
    for (int i = 0; i < BK; ++i) {
      const float4 a0 = As[i][thread_row / 4], a1 = As[i][(thread_row + next_row) / 4];
      const float4 b0 = Bs[i][thread_col / 4], b1 = Bs[i][(thread_col + next_col) / 4];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        acc[r][0] += a0[r] * b0;
        acc[r][1] += a0[r] * b1;
        acc[r + 4][0] += a1[r] * b0;
        acc[r + 4][1] += a1[r] * b1;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);  // all reads are done
  }
#pragma unroll
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int s = 0; s < TN / 4; ++s) {
      const int row = tile_row + thread_row + r / 4 * next_row + r % 4;
      const int col = tile_col + thread_col + s * next_col;
      if (row < m && col < n) *reinterpret_cast<device float4*>(&c[row * n + col]) = acc[r][s];
    }
  }
}
