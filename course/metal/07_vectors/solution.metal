// Exercise 07: accesses of 16 bytes.
//
// Each load moves one float, and takes an issue slot that an FMA could have. A thread can load four
// neighbours at once as a float4. In device memory, rows of A and B offer that. In threadgroup
// memory, a thread reads 8 rows of A: they become neighbours if the tile is stored transposed.
//
//   A   row: | a0 a1 a2 a3 |  one float4           a_tile[0 * LDA + row] = a0
//                                           -->    a_tile[1 * LDA + row] = a1
//                                                  a_tile[2 * LDA + row] = a2     8 rows of a step
//                                                  a_tile[3 * LDA + row] = a3     are two float4
//
// n and k are multiples of 4. Goals: 16 bytes for each access to device memory and for each load
// from threadgroup memory; 4 threadgroup loads for 64 FMAs.

#include <metal_stdlib>

using namespace metal;

constant constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constant constexpr int THREADS = (BM / TM) * (BN / TN);
constant constexpr int LDA = BM;  // elements of a row of As

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
  const int thread_row = t / (BN / TN) * TM, thread_col = t % (BN / TN) * TN;
  const int a_row = t / 2, a_step = t % 2 * 4;    // this thread's vector of the tile of A
  const int b_step = t / 32, b_col = t % 32 * 4;  // and of B

  float4 acc[TM][TN / 4] = {};
  for (int k0 = 0; k0 < k; k0 += BK) {
    //@ todo: one float4 of A, stored transposed, and one of B; zeros beyond the edges
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
    //@ end
    threadgroup_barrier(mem_flags::mem_threadgroup);  // the tiles are complete
    //@ todo: as in exercise 06, with two float4 of As and two of Bs in each step
    for (int i = 0; i < BK; ++i) {
      const float4 a0 = As[i][thread_row / 4], a1 = As[i][(thread_row + 4) / 4];
      const float4 b0 = Bs[i][thread_col / 4], b1 = Bs[i][(thread_col + 4) / 4];
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        acc[r][0] += a0[r] * b0;
        acc[r][1] += a0[r] * b1;
        acc[r + 4][0] += a1[r] * b0;
        acc[r + 4][1] += a1[r] * b1;
      }
    }
    //@ end
    threadgroup_barrier(mem_flags::mem_threadgroup);  // all reads are done
  }
  //@ todo: store two float4 in each row that exists
#pragma unroll
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int s = 0; s < TN / 4; ++s) {
      const int row = tile_row + thread_row + r;
      const int col = tile_col + thread_col + 4 * s;
      if (row < m && col < n) *reinterpret_cast<device float4*>(&c[row * n + col]) = acc[r][s];
    }
  }
  //@ end
}
