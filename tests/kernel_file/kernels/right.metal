// Correct in every case that its parameters can express.

#include <metal_stdlib>

using namespace metal;

constant constexpr uint BM = 16;
constant constexpr uint BN = 16;
constant constexpr uint THREADS = BM * BN;

kernel void gemm(const device float* A [[buffer(0)]], const device float* B [[buffer(1)]],
                 device float* C [[buffer(2)]], constant uint& m [[buffer(3)]],
                 constant uint& n [[buffer(4)]], constant ulong& k [[buffer(5)]],
                 constant int& ldc [[buffer(6)]], uint2 group [[threadgroup_position_in_grid]],
                 uint index [[thread_index_in_threadgroup]]) {
  threadgroup float As[BM][BN + 1];
  threadgroup float Bs[BM][BN];
  const uint row = index / BN, col = index % BN;
  const uint i = group.y * BM + row, j = group.x * BN + col;
  float sum = 0;
  for (ulong k0 = 0; k0 < k; k0 += BN) {
    As[row][col] = i < m && k0 + col < k ? A[i * k + k0 + col] : 0;
    Bs[row][col] = k0 + row < k && j < n ? B[(k0 + row) * n + j] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint p = 0; p < BN; ++p) sum += As[row][p] * Bs[p][col];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (i < m && j < n) C[i * ldc + j] = sum;
}
