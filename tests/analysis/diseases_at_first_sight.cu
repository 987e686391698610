// More kernels as in diseases.cu, whose author did not know how `rung explain` judges: 26 with one
// disease each on an H200 with its 132 SMs, and 10 healthy ones.

#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

// Times as many blocks, and times as much data.
#ifndef SCALE
#define SCALE 1
#endif
constexpr int factor = SCALE;

// ============================================================================
//  Part 1: 26 kernels with one disease each
// ============================================================================

// uncoalesced: one thread per row of a row-major matrix, so a warp's load touches 32 rows (192 B apart) = 32 lines.
__global__ void matvec__uncoalesced_accesses(const float* __restrict__ A,
                                             const float* __restrict__ x, float* __restrict__ y,
                                             int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = A + (size_t)r * cols;
  float acc = 0.0f;
  for (int c = 0; c < cols; ++c) acc += row[c] * x[c];
  y[r] = acc;
}

struct Particle {  // 64 bytes
  float x, y, z, mass;
  float ax, ay, az, charge;
  float vx, vy, vz, radius;
  float u0, u1, u2, u3;
};

// uncoalesced: array of 64-byte structs of which 2 floats are used: 32 sectors for every request, 1/8 of each used.
__global__ void particle_aos__uncoalesced_accesses(Particle* p, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i].x += dt * p[i].vx;
}

// misaligned: a 16-byte header shifts all 32-byte records by half a sector: each record costs two sectors, not one.
__global__ void record_gather__misaligned_accesses(const float* __restrict__ table,
                                                   const int* __restrict__ idx,
                                                   float4* __restrict__ out, int half_count) {
  const float* rec0 = table + 4;  // skip the header
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int r = t >> 1, half = t & 1;
  int ia = idx[r], ib = idx[r + half_count];
  float4 a = *reinterpret_cast<const float4*>(rec0 + 8 * (size_t)ia + 4 * half);
  float4 b = *reinterpret_cast<const float4*>(rec0 + 8 * (size_t)ib + 4 * half);
  out[t] = a;
  out[t + 2 * half_count] = b;
}

// narrow: one byte per thread; a warp moves 32 bytes per request, so far too few bytes are in flight.
__global__ void threshold__narrow_accesses(const unsigned char* __restrict__ src,
                                           unsigned char* __restrict__ dst, unsigned char level,
                                           int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = src[i] > level ? 255 : 0;
}

// repeated loads: textbook GEMM without tiles, every element of A and B is loaded 16 times per block (2 loads per FMA).
__global__ void gemm_naive__repeated_loads(const float* __restrict__ A, const float* __restrict__ B,
                                           float* __restrict__ C, int M, int N, int K) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum = 0.f;
  for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = sum;
}

struct Taps33 {
  float w[33];
};

// repeated loads: each block fetches every input sample 33 times from L2 (.cg loads are not kept in L1).
__global__ void fir33__repeated_loads(const float* __restrict__ x, float* __restrict__ y,
                                      Taps33 taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float acc = 0.f;
#pragma unroll
  for (int k = 0; k < 33; ++k) acc = fmaf(taps.w[k], __ldcg(x + i + k), acc);
  y[i] = acc;
}

// repeated stores: accumulates in y[i]; as y may alias a and w, each of the 16 steps stores and orders the next load.
__global__ void weighted_planes__repeated_stores(float* y, const float* a, const float* w, int n,
                                                 int planes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int p = 0; p < planes; ++p) y[i] += w[p] * a[p * n + i];
}

// bank conflicts: columns of an unpadded 32x32 tile are read: 32-way conflict for each shared load.
__global__ void transpose_tile__bank_conflicts(float* __restrict__ out,
                                               const float* __restrict__ in, int n, int height) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// shared loads: 64-tap correlation, one output per thread: 1.25 conflict-free shared loads for each FMA.
__global__ void correlation64__shared_loads(const float* __restrict__ x,
                                            const float* __restrict__ w, float* __restrict__ y) {
  __shared__ float sx[256 + 64];
  __shared__ __align__(16) float sw[64];
  int t = threadIdx.x, base = blockIdx.x * 256;
  sx[t] = x[base + t];
  if (t < 64) {
    sx[256 + t] = x[base + 256 + t];
    sw[t] = w[t];
  }
  __syncthreads();
  float acc = 0.f;
#pragma unroll
  for (int k = 0; k < 64; ++k) acc += sw[k] * sx[t + k];
  y[base + t] = acc;
}

// divergence: material ids are random per lane, so each warp runs all four 40-FMA branches one after the other.
__global__ void shade__divergence(const int* __restrict__ material, const float* __restrict__ in,
                                  float* __restrict__ out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  switch (material[i] & 3) {
    case 0:
      for (int k = 0; k < 40; ++k) v = fmaf(v, 0.991f, 0.013f);
      break;
    case 1:
      for (int k = 0; k < 40; ++k) v = fmaf(v, -v, 0.71f);
      break;
    case 2:
      for (int k = 0; k < 40; ++k) v = fmaf(v, v, -0.37f);
      break;
    default:
      for (int k = 0; k < 40; ++k) v = fmaf(0.45f, v, -0.21f);
      break;
  }
  out[i] = v;
}

// partial warps: blocks of 8 threads (one cell with 8 sites each), 24 of 32 lanes of each issue-bound warp are idle.
__global__ void cell_series__partial_warps(const float* __restrict__ site,
                                           float* __restrict__ out) {
  int i = blockIdx.x * 8 + threadIdx.x;
  float x = site[i];
  float a0 = x, a1 = x + 1.f, a2 = x + 2.f, a3 = x + 3.f, a4 = x + 4.f, a5 = x + 5.f, a6 = x + 6.f,
        a7 = x + 7.f;
#pragma unroll 5
  for (int m = 0; m < 20; ++m) {
    a0 = fmaf(a0, x, 0.10f);
    a1 = fmaf(a1, x, 0.11f);
    a2 = fmaf(a2, x, 0.12f);
    a3 = fmaf(a3, x, 0.13f);
    a4 = fmaf(a4, x, 0.14f);
    a5 = fmaf(a5, x, 0.15f);
    a6 = fmaf(a6, x, 0.16f);
    a7 = fmaf(a7, x, 0.17f);
  }
  out[i] = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7));
}

// work of single threads: thread 0 finds the maximum and the sum of exponentials of the row while 127 threads wait.
__global__ void softmax128__work_of_single_threads(const float* __restrict__ in,
                                                   float* __restrict__ out) {
  __shared__ float row[128];
  __shared__ float s_max, s_inv;
  int t = threadIdx.x;
  row[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t == 0) {
    float m = row[0];
    for (int k = 1; k < 128; ++k) m = fmaxf(m, row[k]);
    float s = 0.f;
    for (int k = 0; k < 128; ++k) s += __expf(row[k] - m);
    s_max = m;
    s_inv = 1.0f / s;
  }
  __syncthreads();
  out[blockIdx.x * 128 + t] = __expf(row[t] - s_max) * s_inv;
}

__device__ __forceinline__ float warp_sum(float v) {
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}

// too few blocks: 12 blocks on 132 SMs.
__global__ void dot_product__too_few_blocks(const float4* __restrict__ a,
                                            const float4* __restrict__ b,
                                            float* __restrict__ partial, int n4) {
  __shared__ float s[8];
  float acc = 0.f;
#pragma unroll 8
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    float4 u = a[i], v = b[i];
    acc += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  acc = warp_sum(acc);
  if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = acc;
  __syncthreads();
  if (threadIdx.x < 32) {
    acc = threadIdx.x < 8 ? s[threadIdx.x] : 0.f;
    acc = warp_sum(acc);
    if (threadIdx.x == 0) partial[blockIdx.x] = acc;
  }
}

// last wave: FMA bound, registers allow one 1024-thread block per SM; 140 blocks = one full wave and a wave of 8.
__global__ void __launch_bounds__(1024) quadratic_map__last_wave(float* __restrict__ out, float c) {
  int t = blockIdx.x * 1024 + threadIdx.x;
  float x[32];
  float seed = 1.0e-6f * (float)t;
#pragma unroll
  for (int j = 0; j < 32; ++j) x[j] = fmaf(seed, 0.5f + j, 0.015625f * j);
#pragma unroll 1
  for (int s = 0; s < 5; ++s) {
#pragma unroll
    for (int j = 0; j < 32; ++j) x[j] = fmaf(x[j], x[j], c);
  }
  float sum = 0.f;
#pragma unroll
  for (int j = 0; j < 32; ++j) sum += x[j];
  out[t] = sum;
}

// uneven blocks: one block per segment; 8 of 528 segments hold 32768 values, the others 512.
__global__ void segment_sum__uneven_blocks(const float* __restrict__ val,
                                           const int* __restrict__ start, float* __restrict__ sum) {
  __shared__ float s[8];
  int b = start[blockIdx.x], e = start[blockIdx.x + 1];
  float acc = 0.f;
  for (int i = b + threadIdx.x; i < e; i += 256) acc += val[i];
  acc = warp_sum(acc);
  if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = acc;
  __syncthreads();
  if (threadIdx.x == 0) {
    float r = 0.f;
    for (int k = 0; k < 8; ++k) r += s[k];
    sum[blockIdx.x] = r;
  }
}

// uneven warps: in each block one warp marches 512 steps, the other seven 32; the block waits for the long one.
__global__ void ray_march__uneven_warps(const int* __restrict__ steps,
                                        const float* __restrict__ start, float* __restrict__ out) {
  __shared__ float s[8];
  int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  int n = steps[blockIdx.x * 8 + warp];
  float x = start[blockIdx.x * 256 + threadIdx.x], y = 0.f;
#pragma unroll 4
  for (int k = 0; k < n; ++k) {
    x = fmaf(x, 0.999f, 0.001f);
    y = fmaf(y, 0.98f, x);
  }
  y = warp_sum(y);
  if (lane == 0) s[warp] = y;
  __syncthreads();
  if (threadIdx.x == 0)
    out[blockIdx.x] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

// low occupancy: 48 KB of shared memory reserved by blocks of 64 threads: 8 warps per SM, too few bytes in flight.
__global__ void reverse_tiles__low_occupancy(const float4* __restrict__ in,
                                             float4* __restrict__ out) {
  __shared__ float4 scratch[3072];  // sized for the largest tile; 64 elements are in use
  int t = threadIdx.x;
  scratch[t] = in[blockIdx.x * 64 + t];
  __syncthreads();
  out[blockIdx.x * 64 + t] = scratch[63 - t];
}

// exposed latency: each thread follows one linked list; every load waits for the one before (lanes stay coalesced).
__global__ void linked_lists__exposed_latency(const int* __restrict__ next,
                                              const float* __restrict__ value,
                                              float* __restrict__ out, int length) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int node = t;
  float acc = 0.f;
  for (int k = 0; k < length; ++k) {
    acc += value[node];
    node = next[node];
  }
  out[t] = acc;
}

// barriers: Hillis-Steele scans of five rows one after the other, 16 block barriers per row around one addition each.
__global__ void row_scan__barriers(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  float v[5];
#pragma unroll
  for (int r = 0; r < 5; ++r) v[r] = in[(blockIdx.x * 5 + r) * 256 + t];
#pragma unroll
  for (int r = 0; r < 5; ++r) {
    float x = v[r];
    s[t] = x;
    __syncthreads();
#pragma unroll
    for (int d = 1; d < 256; d <<= 1) {
      float left = t >= d ? s[t - d] : 0.f;
      __syncthreads();
      x += left;
      s[t] = x;
      __syncthreads();
    }
    v[r] = x;
  }
#pragma unroll
  for (int r = 0; r < 5; ++r) out[(blockIdx.x * 5 + r) * 256 + t] = v[r];
}

// local memory: a private array indexed with data lives in local memory: two scattered local accesses per key.
__global__ void digit_counts__local_memory(const int* __restrict__ key, int* __restrict__ out,
                                           int threads) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int cnt[32];
#pragma unroll
  for (int b = 0; b < 32; ++b) cnt[b] = 0;
#pragma unroll 4
  for (int k = 0; k < 24; ++k) {
    int d = key[k * threads + t] & 31;
    cnt[d]++;
  }
  int score = 0;
#pragma unroll
  for (int b = 0; b < 32; ++b) score += cnt[b] * cnt[b];
  out[t] = score;
}

// double precision by accident: literals without f: conversions and double arithmetic in every step of a float map.
__global__ void logistic_growth__double_precision_by_accident(float* __restrict__ pop, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = pop[i];
  for (int k = 0; k < steps; ++k) x = 3.7 * x * (1.0 - x);
  pop[i] = x;
}

// divisions: a continued fraction, one IEEE float division (about ten instructions) per step and little else.
__global__ void continued_fraction__divisions(const float* __restrict__ a, float* __restrict__ out,
                                              int terms) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i], f = 1.0f;
  float num = x;
  for (int k = 0; k < terms; ++k) {
    num += x;
    f = num / (2.0f + f);
  }
  out[i] = f;
}

// divisions: random numbers modulo a run-time integer, about 20 instructions for each remainder.
__global__ void monte_carlo_pi__divisions(int* __restrict__ hits, unsigned modulus, float scale,
                                          int samples) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s = (unsigned)i % 60000u + 1u;
  int h = 0;
  for (int k = 0; k < samples; ++k) {
    s = (s * 16807u + 11u) % modulus;
    float x = (float)s * scale;
    s = (s * 16807u + 11u) % modulus;
    float y = (float)s * scale;
    h += (x * x + y * y < 1.0f);
  }
  hits[i] = h;
}

struct Strides6 {
  long long s[6];
};

// addresses: about 30 integer instructions (six 64-bit strides at run time) for each element that is loaded and added.
__global__ void tensor_view_sum__addresses(const float* __restrict__ tensor,
                                           float* __restrict__ out, Strides6 st) {
  unsigned threads = gridDim.x * blockDim.x;
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  float acc = 0.f;
#pragma unroll 4
  for (unsigned k = 0; k < 12; ++k) {
    unsigned e = k * threads + t;
    long long i0 = e & 3, i1 = (e >> 2) & 7, i2 = (e >> 5) & 7, i3 = (e >> 8) & 7,
              i4 = (e >> 11) & 7, i5 = (e >> 14) & 3;
    long long off =
        i0 * st.s[0] + i1 * st.s[1] + i2 * st.s[2] + i3 * st.s[3] + i4 * st.s[4] + i5 * st.s[5];
    acc += tensor[off];
  }
  out[t] = acc;
}

// atomics at one address: every thread adds its own energy to the same float in global memory.
__global__ void kinetic_energy__atomics_at_one_address(const float* __restrict__ m,
                                                       const float* __restrict__ v, float* total,
                                                       int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, 0.5f * m[i] * v[i] * v[i]);
}

// atomics at one shared address: a dark image, nearly all pixels fall in bin 0, so 32 lanes serialise per atomic.
__global__ void dark_histogram__atomics_at_one_shared_address(const int* __restrict__ pixel,
                                                              int* __restrict__ partial,
                                                              int threads) {
  __shared__ int bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int weight = 1 + (t & 3);
#pragma unroll
  for (int k = 0; k < 8; ++k) atomicAdd(&bins[pixel[k * threads + t] & 63], weight);
  __syncthreads();
  if (threadIdx.x < 64) partial[blockIdx.x * 64 + threadIdx.x] = bins[threadIdx.x];
}

// ============================================================================
//  Part 2: 10 healthy kernels
// ============================================================================

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

// ============================================================================
//  Host
// ============================================================================
static unsigned g_state = 12345u;
static unsigned next_random() {
  g_state = g_state * 1664525u + 1013904223u;
  return g_state >> 8;
}

static float* random_floats(size_t n) {
  float* h = (float*)malloc(n * sizeof(float));
  for (size_t i = 0; i < n; ++i) h[i] = (float)next_random() * (1.0f / 16777216.0f);
  float* d = nullptr;
  cudaMalloc((void**)&d, n * sizeof(float));
  cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
  free(h);
  return d;
}

static int* device_ints(const int* h, size_t n) {
  int* d = nullptr;
  cudaMalloc((void**)&d, n * sizeof(int));
  cudaMemcpy(d, h, n * sizeof(int), cudaMemcpyHostToDevice);
  return d;
}

static void* zeroed(size_t bytes) {
  void* d = nullptr;
  cudaMalloc(&d, bytes);
  cudaMemset(d, 0, bytes);
  return d;
}

int main() {
  const size_t NP = ((size_t)1 << 22) * factor;  // 4M floats
  float* A = random_floats(NP + 64);
  float* B = random_floats(NP + 64);
  float* P = random_floats(NP);  // particles, updated in place
  float* Q = random_floats(NP);  // particles, updated in place
  float* O = (float*)zeroed(NP * sizeof(float));
  int* OI = (int*)zeroed(((size_t)1 << 20) * factor * sizeof(int));
  float* Y = (float*)zeroed((size_t)135168 * factor * sizeof(float));
  float* total = (float*)zeroed(256);

  int* h = (int*)malloc(sizeof(int) * NP);

  // gather order of the records: every second record, in scrambled order
  const int nrec = 256000 * factor;
  for (int i = 0; i < nrec; ++i) h[i] = 2 * (int)(((long long)i * 7919 + 13) % nrec);
  int* rec_idx = device_ints(h, nrec);

  // materials
  for (int i = 0; i < 135168 * factor; ++i) h[i] = (int)(next_random() >> 5) & 3;
  int* material = device_ints(h, 135168 * factor);

  // segments
  h[0] = 0;
  for (int i = 0; i < 528 * factor; ++i) h[i + 1] = h[i] + (i % 66 == 33 ? 32768 : 512);
  int* seg_start = device_ints(h, 528 * factor + 1);

  // ray-march steps per warp
  for (int b = 0; b < 264 * factor; ++b)
    for (int w = 0; w < 8; ++w) h[b * 8 + w] = (w == b % 8) ? 512 : 32;
  int* steps = device_ints(h, 264 * 8 * factor);

  // linked lists: 67584 lists of 32 nodes, warps hop between chunks of 32 nodes
  const int lists = 67584 * factor, length = 32, chunks = lists / 32;
  for (int s = 0; s < length; ++s)
    for (int p = 0; p < lists; ++p) {
      int chunk = (int)(((long long)(p / 32) * 5 + 7 * s + 1) % chunks);
      int ns = s + 1 < length ? s + 1 : 0;
      h[s * lists + p] = ns * lists + chunk * 32 + p % 32;
    }
  int* next = device_ints(h, (size_t)lists * length);

  // keys
  for (int i = 0; i < 67584 * 24 * factor; ++i) h[i] = (int)(next_random() >> 3);
  int* keys = device_ints(h, (size_t)67584 * 24 * factor);

  // dark image
  for (int i = 0; i < 67584 * 8 * factor; ++i)
    h[i] = (i % 97 == 0) ? (int)(next_random() >> 4) & 63 : 0;
  int* dark = device_ints(h, (size_t)67584 * 8 * factor);

  // embedding ids
  for (int i = 0; i < 32768 * factor; ++i) h[i] = (int)(next_random() >> 4) & 32767;
  int* ids = device_ints(h, 32768 * factor);
  free(h);

  // byte image
  const int npix = 1600 * 1200 * factor;
  unsigned char* hb = (unsigned char*)malloc(npix);
  for (int i = 0; i < npix; ++i) hb[i] = (unsigned char)(next_random() >> 7);
  unsigned char *img = nullptr, *img_out = (unsigned char*)zeroed(npix);
  cudaMalloc((void**)&img, npix);
  cudaMemcpy(img, hb, npix, cudaMemcpyHostToDevice);
  free(hb);

  Taps33 taps;
  for (int k = 0; k < 33; ++k) taps.w[k] = 1.0f / (float)(k + 2);
  Strides6 st;
  st.s[0] = 1;
  st.s[1] = 4;
  st.s[2] = 32;
  st.s[3] = 256;
  st.s[4] = 2048;
  st.s[5] = 16384;

  // ---- diseased
  matvec__uncoalesced_accesses<<<264 * factor, 256>>>(A, B, O, 67584 * factor, 48);
  particle_aos__uncoalesced_accesses<<<1024 * factor, 256>>>((Particle*)P, 0.01f, 262144 * factor);
  record_gather__misaligned_accesses<<<1000 * factor, 256>>>(A, rec_idx, (float4*)O,
                                                             128000 * factor);
  threshold__narrow_accesses<<<7500 * factor, 256>>>(img, img_out, 127, npix);
  gemm_naive__repeated_loads<<<dim3(24, 22 * factor), dim3(16, 16)>>>(A, B, O, 352 * factor, 384,
                                                                      32);
  fir33__repeated_loads<<<528 * factor, 256>>>(A, O, taps);
  weighted_planes__repeated_stores<<<528 * factor, 256>>>(Y, A, B, 135168 * factor, 16);
  transpose_tile__bank_conflicts<<<dim3(32, 32 * factor), dim3(32, 8)>>>(O, A, 1024, 1024 * factor);
  correlation64__shared_loads<<<528 * factor, 256>>>(A, B, O);
  shade__divergence<<<528 * factor, 256>>>(material, A, O);
  cell_series__partial_warps<<<4224 * factor, 8>>>(A, O);
  softmax128__work_of_single_threads<<<528 * factor, 128>>>(A, O);
  dot_product__too_few_blocks<<<12 * factor, 256>>>((const float4*)A, (const float4*)B, O,
                                                    12 * 256 * 64 * factor);
  quadratic_map__last_wave<<<132 * factor + 8, 1024>>>(O, -0.7f);
  segment_sum__uneven_blocks<<<528 * factor, 256>>>(A, seg_start, O);
  ray_march__uneven_warps<<<264 * factor, 256>>>(steps, A, O);
  reverse_tiles__low_occupancy<<<8192 * factor, 64>>>((const float4*)A, (float4*)O);
  linked_lists__exposed_latency<<<264 * factor, 256>>>(next, A, O, 32);
  row_scan__barriers<<<264 * factor, 256>>>(A, O);
  digit_counts__local_memory<<<264 * factor, 256>>>(keys, OI, 67584 * factor);
  logistic_growth__double_precision_by_accident<<<528 * factor, 256>>>(Q, 16);
  continued_fraction__divisions<<<528 * factor, 256>>>(A, O, 16);
  monte_carlo_pi__divisions<<<264 * factor, 256>>>(OI, 65521u, 1.0f / 65521.0f, 8);
  tensor_view_sum__addresses<<<264 * factor, 256>>>(A, O, st);
  kinetic_energy__atomics_at_one_address<<<528 * factor, 256>>>(A, B, total, 135168 * factor);
  dark_histogram__atomics_at_one_shared_address<<<264 * factor, 256>>>(dark, OI, 67584 * factor);

  // ---- healthy
  triad__healthy<<<4096 * factor, 256>>>((const float4*)A, (const float4*)B, (float4*)O, 1.5f);
  image_negative__healthy<<<4096 * factor, 256>>>((const uint4*)A, (uint4*)O);
  transpose_padded__healthy<<<dim3(32, 64 * factor), dim3(32, 8)>>>(O, A, 1024, 2048 * factor);
  julia_real__healthy<<<528 * factor, 256>>>((float4*)O, -0.7f, 1.0e-6f);
  nbody_cluster__healthy<<<528 * factor, 256>>>((const float4*)A, (const float4*)B, (float4*)O);
  softmax_rows__healthy<<<512 * factor, 256>>>((const float4*)A, (float4*)O);
  stencil5__healthy<<<dim3(8, 256 * factor), dim3(32, 8)>>>(A, O, 1024, 2048 * factor);
  block_reduce__healthy<<<528 * factor, 256>>>((const float4*)A, O);
  embedding_lookup__healthy<<<1024 * factor, 256>>>((const float4*)A, (const int4*)ids, (float4*)O);
  const auto part = [&](int i) { return (float4*)(Q + i * 524288 * factor); };
  particle_soa__healthy<<<512 * factor, 256>>>(part(0), part(1), part(2), part(3), part(4), part(5),
                                               0.01f, 0.999f);

  cudaError_t err = cudaDeviceSynchronize();
  if (err == cudaSuccess) err = cudaGetLastError();
  printf("%s\n", cudaGetErrorString(err));
  return err == cudaSuccess ? 0 : 1;
}
