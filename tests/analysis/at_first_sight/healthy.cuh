#pragma once
// Kernels without a disease: `rung explain` should report no cause.

#include "warp_sum.cuh"

// healthy: bandwidth bound, float4 streams, 4096 full blocks.
__global__ void triad__healthy(const float4* __restrict__ x, const float4* __restrict__ y,
                               float4* __restrict__ z, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 u = x[i], v = y[i];
  z[i] = make_float4(fmaf(a, u.x, v.x), fmaf(a, u.y, v.y), fmaf(a, u.z, v.z), fmaf(a, u.w, v.w));
}

// healthy: bandwidth bound, 16 pixels (16 bytes) per thread.
__global__ void image_negative__healthy(const uint4* __restrict__ src, uint4* __restrict__ dst) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 p = src[i];
  p.x = ~p.x;
  p.y = ~p.y;
  p.z = ~p.z;
  p.w = ~p.w;
  dst[i] = p;
}

// healthy: bandwidth bound, padded tile, coalesced on both sides, four loads in flight per thread.
__global__ void transpose_padded__healthy(float* __restrict__ out, const float* __restrict__ in,
                                          int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// healthy: FMA bound, four independent chains per thread, 32 warps per SM, no loads.
__global__ void julia_real__healthy(float4* __restrict__ out, float c, float h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = (float)i * h;
  float a = s, b = s + 0.25f * h, d = s + 0.5f * h, e = s + 0.75f * h;
#pragma unroll 16
  for (int k = 0; k < 48; ++k) {
    a = fmaf(a, a, c);
    b = fmaf(b, b, c);
    d = fmaf(d, d, c);
    e = fmaf(e, e, c);
  }
  out[i] = make_float4(a, b, d, e);
}

// healthy: FP32-pipe bound, sources broadcast from shared memory as float4, 32 warps per SM.
__global__ void nbody_cluster__healthy(const float4* __restrict__ body,
                                       const float4* __restrict__ source,
                                       float4* __restrict__ acc) {
  __shared__ float4 src[16];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = body[i];
  if (threadIdx.x < 16) src[threadIdx.x] = source[threadIdx.x];
  __syncthreads();
  float ax = 0.f, ay = 0.f, az = 0.f;
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    float4 q = src[j];
    float dx = q.x - p.x, dy = q.y - p.y, dz = q.z - p.z;
    float r2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f)));
    float inv = rsqrtf(r2);
    float f = q.w * inv * inv * inv;
    ax = fmaf(f, dx, ax);
    ay = fmaf(f, dy, ay);
    az = fmaf(f, dz, az);
  }
  acc[i] = make_float4(ax, ay, az, 0.f);
}

// healthy: bandwidth bound, one warp per row of 512, the row stays in registers, shuffles only.
__global__ void softmax_rows__healthy(const float4* __restrict__ in, float4* __restrict__ out) {
  int lane = threadIdx.x & 31;
  int row = blockIdx.x * 8 + (threadIdx.x >> 5);
  const float4* r = in + (size_t)row * 128;
  float4 v[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) v[k] = r[k * 32 + lane];
  float m = v[0].x;
#pragma unroll
  for (int k = 0; k < 4; ++k) m = fmaxf(m, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
  float s = 0.f;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    v[k].x = __expf(v[k].x - m);
    v[k].y = __expf(v[k].y - m);
    v[k].z = __expf(v[k].z - m);
    v[k].w = __expf(v[k].w - m);
    s += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  }
  float inv = __fdividef(1.0f, warp_sum(s));
  float4* o = out + (size_t)row * 128;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    o[k * 32 + lane] = make_float4(v[k].x * inv, v[k].y * inv, v[k].z * inv, v[k].w * inv);
}

// healthy: bandwidth bound, four points per thread, neighbours come from L1.
__global__ void stencil5__healthy(const float* __restrict__ u, float* __restrict__ w, int width,
                                  int height) {
  int x = 4 * (blockIdx.x * 32 + threadIdx.x);
  int y = blockIdx.y * 8 + threadIdx.y;
  int up = max(y - 1, 0), dn = min(y + 1, height - 1);
  const float* row = u + y * width;
  float4 c = *(const float4*)(row + x);
  float4 n = *(const float4*)(u + up * width + x);
  float4 s = *(const float4*)(u + dn * width + x);
  float l = row[max(x - 1, 0)];
  float r = row[min(x + 4, width - 1)];
  float4 o;
  o.x = 0.2f * (c.x + l + c.y + n.x + s.x);
  o.y = 0.2f * (c.y + c.x + c.z + n.y + s.y);
  o.z = 0.2f * (c.z + c.y + c.w + n.z + s.z);
  o.w = 0.2f * (c.w + c.z + r + n.w + s.w);
  *(float4*)(w + y * width + x) = o;
}

// healthy: bandwidth bound, seven float4 loads in flight per thread, shuffles, one partial sum per block.
__global__ void block_reduce__healthy(const float4* __restrict__ in, float* __restrict__ partial) {
  __shared__ float s[8];
  int t = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;
  float4 v[7];
#pragma unroll
  for (int k = 0; k < 7; ++k) v[k] = in[k * total + t];
  float acc = 0.f;
#pragma unroll
  for (int k = 0; k < 7; ++k) acc += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  acc = warp_sum(acc);
  if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = acc;
  __syncthreads();
  if (threadIdx.x == 0)
    partial[blockIdx.x] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

// healthy: bandwidth bound gather of whole 512-byte rows, four rows in flight per warp.
__global__ void embedding_lookup__healthy(const float4* __restrict__ table,
                                          const int4* __restrict__ id, float4* __restrict__ out) {
  int lane = threadIdx.x & 31;
  int w = blockIdx.x * 8 + (threadIdx.x >> 5);
  int4 k = id[w];
  float4 a = table[(size_t)k.x * 32 + lane];
  float4 b = table[(size_t)k.y * 32 + lane];
  float4 c = table[(size_t)k.z * 32 + lane];
  float4 d = table[(size_t)k.w * 32 + lane];
  float4* o = out + (size_t)w * 128 + lane;
  o[0] = a;
  o[32] = b;
  o[64] = c;
  o[96] = d;
}

__device__ __forceinline__ float4 axpy4(float a, float4 x, float4 y) {
  return make_float4(fmaf(a, x.x, y.x), fmaf(a, x.y, y.y), fmaf(a, x.z, y.z), fmaf(a, x.w, y.w));
}

// healthy: bandwidth bound, structure of arrays, six float4 loads in flight per thread.
__global__ void particle_soa__healthy(float4* __restrict__ x, float4* __restrict__ y,
                                      float4* __restrict__ z, float4* __restrict__ vx,
                                      float4* __restrict__ vy, float4* __restrict__ vz, float dt,
                                      float damp) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 px = x[i], py = y[i], pz = z[i];
  float4 ux = vx[i], uy = vy[i], uz = vz[i];
  px = axpy4(dt, ux, px);
  py = axpy4(dt, uy, py);
  pz = axpy4(dt, uz, pz);
  x[i] = px;
  y[i] = py;
  z[i] = pz;
  vx[i] = make_float4(damp * ux.x, damp * ux.y, damp * ux.z, damp * ux.w);
  vy[i] = make_float4(damp * uy.x, damp * uy.y, damp * uy.z, damp * uy.w);
  vz[i] = make_float4(damp * uz.x, damp * uz.y, damp * uz.z, damp * uz.w);
}
