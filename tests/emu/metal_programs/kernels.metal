#include <metal_stdlib>
using namespace metal;

constant uint factor [[function_constant(0)]];
constant bool negate [[function_constant(1)]];

struct Params {
  uint n;
  float scale;
};
struct Arguments {
  device const float* a;
  device float* b;
};

kernel void add(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                device float* c [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  c[i] = a[i] + b[i];
}

kernel void scale(device float* data [[buffer(0)]], constant Params& params [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  if (i < params.n) data[i] *= params.scale;
}

kernel void fill(device float* data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  data[i] = 7;
}

kernel void constants(device int* data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  data[i] = negate ? -int(factor) : int(factor);
}

kernel void through(device Arguments& arguments [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  arguments.b[i] = 2 * arguments.a[i];
}

kernel void sums(device const float* data [[buffer(0)]], device float* result [[buffer(1)]],
                 threadgroup float* shared [[threadgroup(0)]], uint i [[thread_position_in_grid]],
                 uint t [[thread_position_in_threadgroup]],
                 uint group [[threadgroup_position_in_grid]],
                 uint threads [[threads_per_threadgroup]]) {
  shared[t] = data[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t != 0) return;
  float sum = 0;
  for (uint k = 0; k < threads; ++k) sum += shared[k];
  result[group] = sum;
}

kernel void invert(texture2d<float, access::read> from [[texture(0)]],
                   texture2d<float, access::write> to [[texture(1)]],
                   uint2 at [[thread_position_in_grid]]) {
  to.write(1 - from.read(at), at);
}

kernel void beyond(device float* data [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  data[i + 1] = 1;
}

kernel void without_memory(device float* data [[buffer(0)]], constant uint& count [[buffer(1)]],
                           threadgroup float* memory [[threadgroup(0)]],
                           uint i [[thread_index_in_threadgroup]]) {
  if (i < count) memory[i] = 1;
  data[i] = 2;
}
