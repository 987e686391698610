// Exercise 02: an element of C for each thread.
//
// C = A B: A has m rows of k elements, B has k rows of n, C has m rows of n, all row-major. A
// threadgroup of 32 x 32 threads computes a tile of 32 x 32 elements of C. Each thread adds up the k
// products of a row of A and a column of B.
//
//                 B  +-----|-----+
//                    |     |col  |  k
//                    +-----|-----+
//     A  +-------+   +-----|-----+
//    row |-------|   |-----x     |  C[row][col]
//        +-------+   +-----------+
//            k             n
//
// group.x counts tiles along a row of C, group.y down its columns. Consecutive threads have
// consecutive rows here. That is slow, and exercise 03 mends it.
// Goals: two loads from device memory for each multiply-add (FMA), and one store of each result.

#include <metal_stdlib>

using namespace metal;

constant constexpr int BM = 32, BN = 32;
constant constexpr int THREADS_X = BM, THREADS_Y = BN;

kernel void gemm(constant int& m [[buffer(0)]], constant int& n [[buffer(1)]],
                 constant int& k [[buffer(2)]], const device float* a [[buffer(3)]],
                 const device float* b [[buffer(4)]], device float* c [[buffer(5)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint2 thread_in_group [[thread_position_in_threadgroup]]) {
  const int row = group.y * BM + thread_in_group.x;
  const int col = group.x * BN + thread_in_group.y;
  //@ todo: return where C has no such element; otherwise add up k products and store the sum
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
  //@ end
}
