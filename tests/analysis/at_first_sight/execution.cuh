#pragma once
// Kernels with an unsuitable choice of threads or instructions, one disease each.

#include "warp_sum.cuh"

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
