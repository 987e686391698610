// Exercise 01: a thread for each element.
//
// z[i] = x[i] y[i] for n elements. A kernel is a function that many threads run at once. They come
// in threadgroups; a thread knows its number within its threadgroup, and its threadgroup's number
// within the grid. The host dispatches as many threadgroups as THREADS and TERMS say: each has
// THREADS threads, and there is one for each TERMS elements, rounded up.
//
//   threadgroup  0                  1                  2
//   index        0 1 2 ... 255      0 1 2 ... 255      0 1 2 ... 255
//   element      0 1 2 ... 255      256 ...   511      512 ...  n-1  | no element
//
// Goals: 4 sectors of 32 bytes for a load of a simdgroup, and no more threadgroups than needed.

#include <metal_stdlib>

using namespace metal;

constant constexpr int THREADS = 256;
//@ todo: how many elements has a threadgroup, if each thread has one?
//@ | constant constexpr int TERMS = 1;
constant constexpr int TERMS = THREADS;
//@ end

kernel void products(constant int& n [[buffer(0)]], const device float* x [[buffer(1)]],
                     const device float* y [[buffer(2)]], device float* z [[buffer(3)]],
                     uint group [[threadgroup_position_in_grid]],
                     uint index [[thread_index_in_threadgroup]]) {
  //@ todo: the element of this thread, if there is one
  const int i = group * THREADS + index;
  if (i < n) z[i] = x[i] * y[i];
  //@ end
}
