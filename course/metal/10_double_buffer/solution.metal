// Exercise 10: double buffering.
//
// In exercise 09 nothing is loaded while a tile is multiplied, and nothing is multiplied while one
// is loaded: a load from memory takes hundreds of cycles. Let each thread load its vectors of the
// next tile into registers, multiply the current tile, then store the registers to a second buffer
// in threadgroup memory. One barrier a tile is enough.
//
//   load tile 0, store to buffer 0
//   barrier | load 1 ............ | multiply 0 | store 1 to buffer 1
//   barrier | load 2 ............ | multiply 1 | store 2 to buffer 0
//   barrier | ...
//
// Goals: 512 FMAs of a simdgroup, those of a tile, between a load and the use of its value; one
// barrier a tile.

#include <metal_stdlib>

using namespace metal;

constant constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
constant constexpr int WM = 64, WN = 32;  // of a simdgroup
constant constexpr int THREADS = (BM / TM) * (BN / TN);
constant constexpr int LDA = BM + 4;

// The vector at `first`, or zeros if it does not exist.
float4 vector_if(bool exists, const device float* first) {
  return exists ? *reinterpret_cast<const device float4*>(first) : float4(0);
}

// Four steps of a row of A, to four rows of a buffer.
void store_transposed(threadgroup float* to, float4 v) {
  to[0 * LDA] = v.x;
  to[1 * LDA] = v.y;
  to[2 * LDA] = v.z;
  to[3 * LDA] = v.w;
}

// Adds the products of a tile. `as` and `bs` are the first vectors of this thread in a buffer.
void multiply(const threadgroup float4* as, const threadgroup float4* bs,
              thread vec<float, 4> (&acc)[TM][TN / 4]) {
  for (int i = 0; i < BK; ++i) {
    const float4 a0 = as[i * LDA / 4], a1 = as[(i * LDA + WM / 2) / 4];
    const float4 b0 = bs[i * BN / 4], b1 = bs[(i * BN + WN / 2) / 4];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      acc[r][0] += a0[r] * b0;
      acc[r][1] += a0[r] * b1;
      acc[r + 4][0] += a1[r] * b0;
      acc[r + 4][1] += a1[r] * b1;
    }
  }
}

kernel void gemm(constant int& m [[buffer(0)]], constant int& n [[buffer(1)]],
                 constant int& k [[buffer(2)]], const device float* a [[buffer(3)]],
                 const device float* b [[buffer(4)]], device float* c [[buffer(5)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint index [[thread_index_in_threadgroup]]) {
  threadgroup float4 As[2][BK][LDA / 4];
  threadgroup float4 Bs[2][BK][BN / 4];
  const int t = index;
  const int tile_row = group.y * BM, tile_col = group.x * BN;
  const int simdgroup = t / 32, lane = t % 32;
  const int thread_row = simdgroup / (BN / WN) * WM + (lane / 8 * 2 + lane % 2) * 4;
  const int thread_col = simdgroup % (BN / WN) * WN + lane / 2 % 4 * 4;
  const int a_row = t / 2, a_step = t % 2 * 4;
  const int b_step = t / 32, b_col = t % 32 * 4;
  const bool has_row = tile_row + a_row < m, has_col = tile_col + b_col < n;
  const device float* const a_from = &a[(tile_row + a_row) * k + a_step];
  const device float* const b_from = &b[b_step * n + tile_col + b_col];

  float4 acc[TM][TN / 4] = {};
  //@ todo: overlap the loads of the next tile with the multiplication of this one
  //@ | for (int k0 = 0; k0 < k; k0 += BK) {
  //@ |   const float4 v = vector_if(has_row && k0 + a_step < k, a_from + k0);
  //@ |   const float4 w = vector_if(has_col && k0 + b_step < k, b_from + k0 * n);
  //@ |   store_transposed(reinterpret_cast<threadgroup float*>(As[0][a_step]) + a_row, v);
  //@ |   Bs[0][b_step][b_col / 4] = w;
  //@ |   threadgroup_barrier(mem_flags::mem_threadgroup);
  //@ |   multiply(&As[0][0][thread_row / 4], &Bs[0][0][thread_col / 4], acc);
  //@ |   threadgroup_barrier(mem_flags::mem_threadgroup);
  //@ | }
  float4 v = vector_if(has_row && a_step < k, a_from);
  float4 w = vector_if(has_col && b_step < k, b_from);
  int now = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    store_transposed(reinterpret_cast<threadgroup float*>(As[now][a_step]) + a_row, v);
    Bs[now][b_step][b_col / 4] = w;
    // This buffer is complete, and the other one is not read any more.
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const int next = k0 + BK;
    v = vector_if(has_row && next + a_step < k, a_from + next);
    w = vector_if(has_col && next + b_step < k, b_from + next * n);
    multiply(&As[now][0][thread_row / 4], &Bs[now][0][thread_col / 4], acc);
    now = 1 - now;
  }
  //@ end
#pragma unroll
  for (int r = 0; r < TM; ++r) {
#pragma unroll
    for (int s = 0; s < TN / 4; ++s) {
      const int row = tile_row + thread_row + r / 4 * (WM / 2) + r % 4;
      const int col = tile_col + thread_col + s * (WN / 2);
      if (row < m && col < n) *reinterpret_cast<device float4*>(&c[row * n + col]) = acc[r][s];
    }
  }
}
