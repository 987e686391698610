// Exercise 08: no bank conflicts.
//
// The virtual GPU counts threadgroup memory as 32 banks of 4 bytes, as NVIDIA's GPUs have them; Apple
// has not published its own. It serves one word of each bank in a wavefront. Words of the same bank
// that are not the same word need a wavefront each. Exercise 07 has such conflicts twice:
//
//   loads of Bs:   lane    0        1         2          4         5
//                  words   0..3     8..11     16..19     32..35    40..43
//                  banks   0..3     8..11     16..19     0..3 !    8..11 !
//
//   stores to As:  rows of 128 words: steps 0 and 4 of a row are in the same bank
//
// Give thread i of a row the columns 4 i to 4 i + 3 and 64 further on, and pad the rows of As.
// Goals: no conflicts at all; all else as in exercise 07.

#include <metal_stdlib>

using namespace metal;

constant constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constant constexpr int THREADS = (BM / TM) * (BN / TN);
//@ todo: how many elements has a row of As in threadgroup memory?
//@ | constant constexpr int LDA = BM;
constant constexpr int LDA = BM + 4;
//@ end

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
  //@ todo: the first of this thread's columns, and the distance of its second vector
  //@ | const int thread_row = t / (BN / TN) * TM, thread_col = t % (BN / TN) * TN;
  //@ | const int next = 4;
  const int thread_row = t / (BN / TN) * TM, thread_col = t % (BN / TN) * 4;
  const int next = BN / 2;
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
      const float4 a0 = As[i][thread_row / 4], a1 = As[i][(thread_row + 4) / 4];
      const float4 b0 = Bs[i][thread_col / 4], b1 = Bs[i][(thread_col + next) / 4];
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
      const int row = tile_row + thread_row + r;
      const int col = tile_col + thread_col + s * next;
      if (row < m && col < n) *reinterpret_cast<device float4*>(&c[row * n + col]) = acc[r][s];
    }
  }
}
