// Exercise 03: coalesced accesses.
//
// The kernel of exercise 02 is right, but a load of A by a simdgroup touches 32 sectors of 32 bytes
// and uses 4 bytes of each: the threads of a simdgroup have consecutive x, and that was the row.
//
//   exercise 02                       here
//   lane 0  A[0][i]   sector 0        lanes 0 to 31  A[row][i]          1 sector
//   lane 1  A[1][i]   sector 1        lane 0         B[i][0]    --+
//   ...                               lane 1         B[i][1]      | 4 sectors
//   lane 31 A[31][i]  sector 31       ...                       --+
//
// Goals: 2.5 sectors for a load on average, 4 for a store.

#include <metal_stdlib>

using namespace metal;

constant constexpr int BM = 32, BN = 32;
constant constexpr int THREADS_X = BN, THREADS_Y = BM;

kernel void gemm(constant int& m [[buffer(0)]], constant int& n [[buffer(1)]],
                 constant int& k [[buffer(2)]], const device float* a [[buffer(3)]],
                 const device float* b [[buffer(4)]], device float* c [[buffer(5)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint2 thread_in_group [[thread_position_in_threadgroup]]) {
  //@ todo: let the threads of a simdgroup run along a row of C
  //@ | const int row = group.y * BM + thread_in_group.x;
  //@ | const int col = group.x * BN + thread_in_group.y;
  const int row = group.y * BM + thread_in_group.y;
  const int col = group.x * BN + thread_in_group.x;
  //@ end
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
