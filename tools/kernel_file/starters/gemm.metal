// C = alpha A B + beta C, as a starting point: each thread computes one element of C.
//
// rung check dispatches gemm() so that each threadgroup computes BM x BN elements of C with
// THREADS_X x THREADS_Y threads, or with THREADS threads in a row. All matrices are row-major; lda is
// the distance from one row of A to the next, in elements. If beta is 0, C is not read.

#include <metal_stdlib>

using namespace metal;

constant constexpr int BM = 16;
constant constexpr int BN = 16;
constant constexpr int THREADS_X = BN;
constant constexpr int THREADS_Y = BM;

kernel void gemm(constant int& m [[buffer(0)]], constant int& n [[buffer(1)]],
                 constant int& k [[buffer(2)]], constant float& alpha [[buffer(3)]],
                 const device float* A [[buffer(4)]], constant int& lda [[buffer(5)]],
                 const device float* B [[buffer(6)]], constant int& ldb [[buffer(7)]],
                 constant float& beta [[buffer(8)]], device float* C [[buffer(9)]],
                 constant int& ldc [[buffer(10)]], uint2 position [[thread_position_in_grid]]) {
  const int row = position.y;
  const int col = position.x;
  if (row >= m || col >= n) return;

  float sum = 0;
  for (int i = 0; i < k; ++i) sum += A[row * lda + i] * B[i * ldb + col];

  device float& c = C[row * ldc + col];
  c = alpha * sum + (beta == 0 ? 0 : beta * c);
}
