"""Kernels that several files of tests run, and the mark of tests that compile."""

import os
import shutil

import pytest

needs_clang = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("clang++-19", "clang++-20", "clang++-21")) and not os.environ.get("RUNG_CLANG"),
    reason="no clang 19")

SAXPY = """
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
"""

TYPES = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct Sizes { int rows; double scale; unsigned char flags[2]; };
template <class T> __global__ void add(const T* x, T* y, T value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + value;
}
namespace ops {
template <class T, int N> __global__ void sum_(const T* x, T* out) {
  T sum = 0;
  for (int i = 0; i < N; ++i) sum += x[blockIdx.x * N + i];
  out[blockIdx.x] = sum;
}
}
__global__ void fields(Sizes s, float4 v, double* out) {
  out[0] = s.rows; out[1] = s.scale; out[2] = s.flags[1]; out[3] = v.z;
}
__global__ void vectors(const float2* in, float4* out) {
  out[threadIdx.x] = {in[threadIdx.x].x, in[threadIdx.x].y, 0, 1};
}
__global__ void raw(const void* from, void* to) { ((int*)to)[threadIdx.x] = ((const int*)from)[threadIdx.x] + 1; }
"""

RACY = """
__global__ void reverse(float* x) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = tile[63 - threadIdx.x];
}
__global__ void beyond(float* x, int n) { x[threadIdx.x + n] = 1; }
__global__ void reads(const float* in, float* out, float* work) {
  if (threadIdx.x == 0) work[0] = in[0];
  out[threadIdx.x] = work[threadIdx.x];
}
"""

METAL = """
#include <metal_stdlib>
using namespace metal;
constant int FACTOR [[function_constant(0)]];
struct Sizes { uint rows; uint columns; };
kernel void scale(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  constant Sizes& sizes [[buffer(2)]], uint2 at [[thread_position_in_grid]]) {
  out[at.y * sizes.columns + at.x] = FACTOR * in[at.y * sizes.columns + at.x];
}
kernel void total(device const float* in, device float* out, threadgroup float* shared,
                  uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  shared[i] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i == 0) { float sum = 0; for (uint k = 0; k < n; ++k) sum += shared[k]; out[0] = sum; }
}
"""

ORDERS = """
__global__ void first(unsigned* turn, unsigned* order) {
  if (threadIdx.x == 0) order[blockIdx.x] = atomicAdd(turn, 1u);
}"""
