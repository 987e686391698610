// Exercise 04: a tile in threadgroup memory.
//
// C = A B, all row-major. In exercise 03 every FMA loads an element of A and one of B from device
// memory. But the 32 x 32 threads of a threadgroup need only 32 rows of A and 32 columns of B: let
// them load a 32 x 32 tile of each into threadgroup memory, together, and read it from there.
//
//             B   k0 ->  +------+
//                        |  Bs  |  32 x 32
//                        +------+
//        A  +----+       +------+
//           | As |  -->  |group |  each thread: one element of C,
//           +----+       | of C |  32 FMAs for two device loads
//          k0 ->         +------+
//
// Goals: two device loads for 32 FMAs, 4 sectors for a load, and no barrier too many or too few.

#include <metal_stdlib>

using namespace metal;

constant constexpr int BM = 32, BN = 32, BK = 32;
constant constexpr int THREADS_X = BN, THREADS_Y = BM;

kernel void gemm(constant int& m [[buffer(0)]], constant int& n [[buffer(1)]],
                 constant int& k [[buffer(2)]], const device float* a [[buffer(3)]],
                 const device float* b [[buffer(4)]], device float* c [[buffer(5)]],
                 uint2 group [[threadgroup_position_in_grid]],
                 uint2 thread_in_group [[thread_position_in_threadgroup]]) {
  threadgroup float As[BM][BK];
  threadgroup float Bs[BK][BN];
  const int tx = thread_in_group.x, ty = thread_in_group.y;
  const int row = group.y * BM + ty, col = group.x * BN + tx;

  float sum = 0;
  for (int k0 = 0; k0 < k; k0 += BK) {
    //@ todo: load one element of As and one of Bs, zeros beyond the edges; then wait
    As[ty][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0;
    Bs[ty][tx] = k0 + ty < k && col < n ? b[(k0 + ty) * n + col] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    //@ end

    //@ todo: add the products of a row of As and a column of Bs
    for (int i = 0; i < BK; ++i) sum += As[ty][i] * Bs[i][tx];
    //@ end

    //@ todo: what must happen before the next tile is loaded?
    threadgroup_barrier(mem_flags::mem_threadgroup);  // all reads are done
    //@ end
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
