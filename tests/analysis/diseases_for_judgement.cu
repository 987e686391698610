// A held-out set of kernels like those of diseases.cu: written before the rules were tuned on
// diseases_of_strangers.cu, and explained once, after that.

#include <cuda_runtime.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#ifndef SCALE
#define SCALE 1
#endif
constexpr int factor = SCALE;

// Means of the channels of images (image, channel, pixel): each thread sums one channel.
__global__ void channel_means__uncoalesced_accesses(const float* x, float* mean, int channels,
                                                    int pixels) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  float s = 0;
  for (int p = 0; p < pixels; p++) s += x[c * pixels + p];
  mean[c] = s / pixels;
}

// A polyphase filter: phases are 16 samples apart in shared memory.
__global__ void polyphase__bank_conflicts(const float* x, const float* taps, float* y, int rounds) {
  __shared__ float s[256 * 16];
  __shared__ float h[16];
  for (int i = threadIdx.x; i < 4096; i += 256) s[i] = x[blockIdx.x * 4096 + i];
  if (threadIdx.x < 16) h[threadIdx.x] = taps[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int i = 0; i < 16; i++) sum += h[i] * s[(threadIdx.x * 16 + i + r * 48) & 4095];
  }
  y[blockIdx.x * 256 + threadIdx.x] = sum;
}

// Assigns ticket numbers: every thread takes the next number.
__global__ void tickets__atomics_at_one_address(const int* priority, int* ticket, int* next,
                                                int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && priority[i] >= 0) ticket[i] = atomicAdd(next, 1 + (priority[i] & 3));
}

// Dequantizes groups whose length is a parameter.
__global__ void dequantize__divisions(const int* q, const float* scale, float* x, int n, int group,
                                      int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int row = i / cols, col = i % cols;
  x[i] = q[i] * scale[(row % 64 * cols + col) / group];
}

// A move-to-front cache of 24 entries per thread.
__global__ void move_to_front__local_memory(const int* keys, int* hits, int rounds, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int entry[24], found = 0;
  for (int j = 0; j < 24; j++) entry[j] = j;
  for (int r = 0; r < rounds; r++) {
    int at = (keys[r * n + i] & 0xffff) % 24, key = entry[at];
    entry[at] = entry[(at + r) % 24];
    entry[(at + r) % 24] = key;
    found += key;
  }
  hits[i] = found;
}

// Random walks until a wall: lanes finish at different times.
__global__ void random_walks__divergence(const unsigned* seeds, int* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned s = seeds[i];
  int at = 0, count = 0;
  while (at > -12 && at < 12 && count < 2000) {
    s = s * 1664525u + 1013904223u;
    at += (s >> 30) & 1 ? 1 : -1;
    count++;
  }
  steps[i] = count;
}

// Every block reserves 100 KB of shared memory and copies with 64 threads.
__global__ void stateful_copy__low_occupancy(const float4* x, float4* y, int per) {
  extern __shared__ float4 state[];
  state[threadIdx.x] = make_float4(1, 2, 3, 4);
  for (int i = threadIdx.x; i < per; i += blockDim.x) {
    float4 v = x[blockIdx.x * per + i], s = state[threadIdx.x];
    y[blockIdx.x * per + i] = make_float4(v.x * s.x, v.y * s.y, v.z * s.z, v.w * s.w);
  }
}

// Heat equation on a rod of 512 points per block.
__global__ void heat__barriers(const float* start, float* end, int steps) {
  __shared__ float u[514];
  int t = threadIdx.x + 1;
  u[t] = start[blockIdx.x * 512 + threadIdx.x];
  if (t == 1) u[0] = u[513] = 0;
  __syncthreads();
  for (int s = 0; s < steps; s++) {
    float next = u[t] + 0.2f * (u[t - 1] - 2 * u[t] + u[t + 1]);
    __syncthreads();
    u[t] = next;
    __syncthreads();
  }
  end[blockIdx.x * 512 + threadIdx.x] = u[t];
}

// Bitwise AND of two byte masks.
__global__ void both_masks__narrow_accesses(const unsigned char* a, const unsigned char* b,
                                            unsigned char* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] && b[i];
}

// Energies of 12 bands, one block per band.
__global__ void band_energies__too_few_blocks(const float* spectrum, float* energy, int length) {
  __shared__ float s[8];
  float e = 0;
  for (int i = threadIdx.x; i < length; i += blockDim.x) {
    float v = spectrum[blockIdx.x * length + i];
    e += v * v;
  }
  for (int o = 16; o; o >>= 1) e += __shfl_xor_sync(~0u, e, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = e;
  __syncthreads();
  if (threadIdx.x == 0) energy[blockIdx.x] = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];
}

// One block per user; a few users have a hundred times as many ratings.
__global__ void mean_ratings__uneven_blocks(const int* first, const float* rating, float* mean) {
  __shared__ float s[4];
  int begin = first[blockIdx.x], end = first[blockIdx.x + 1];
  float sum = 0;
  for (int i = begin + threadIdx.x; i < end; i += blockDim.x) sum += rating[i];
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) mean[blockIdx.x] = (s[0] + s[1] + s[2] + s[3]) / (end - begin);
}

// Moments of many samples, accumulated in global memory.
__global__ void moments__repeated_stores(const float* x, float* m, int samples, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  m[i] = m[n + i] = 0;
  for (int s = 0; s < samples; s++) {
    float v = x[s * n + i];
    m[i] += v;
    m[n + i] += v * v;
  }
}

__global__ void blend__healthy(const uint4* a, const uint4* b, uint4* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint4 p = a[i], q = b[i];
  c[i] = make_uint4(__vavgu4(p.x, q.x), __vavgu4(p.y, q.y), __vavgu4(p.z, q.z), __vavgu4(p.w, q.w));
}

__global__ void row_maxima__healthy(const float4* x, float* most, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float m = -INFINITY;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    float4 v = x[row * 256 + i * 32 + lane];
    m = fmaxf(m, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
  }
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  if (lane == 0) most[row] = m;
}

unsigned seed = 11;
unsigned rnd() { return seed = seed * 1664525u + 1013904223u, seed >> 8; }

template <class T, class F>
T* device_array(size_t n, F value) {
  std::vector<T> h(n);
  for (size_t i = 0; i < n; i++) h[i] = value(i);
  T* d;
  cudaMalloc(&d, n * sizeof(T));
  cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return d;
}

int main() {
  const int f = factor, N = (4 << 20) * f;
  auto unit = [](size_t) { return (rnd() & 0xffff) / 65536.f; };
  float* A = device_array<float>(N, unit);
  float* B = device_array<float>(N, unit);
  float* Y;
  cudaMalloc(&Y, (size_t)N * 4);
  int* ints = device_array<int>(N, [](size_t) { return (int)rnd(); });
  auto* bytes = device_array<unsigned char>(N, [](size_t) { return rnd() & 1; });
  int* out;
  cudaMalloc(&out, (size_t)N * 4);
  cudaMemset(out, 0, (size_t)N * 4);
  int at = 0;
  const int users = 2112 * f;
  int* first = device_array<int>(users + 1, [&](size_t) {
    int now = at;
    at += rnd() % 128 == 0 ? 25600 : 256;
    return now;
  });
  float* ratings = device_array<float>(at + 1, unit);

  channel_means__uncoalesced_accesses<<<132 * f, 128>>>(A, Y, 16896 * f, 196);
  polyphase__bank_conflicts<<<1024 * f, 256>>>(A, B, Y, 8);
  tickets__atomics_at_one_address<<<1024 * f, 256>>>(ints, out, out + N - 1, (1 << 18) * f);
  dequantize__divisions<<<8192 * f, 256>>>(ints, A, Y, (2 << 20) * f, 48, 1000);
  move_to_front__local_memory<<<264 * f, 128>>>(ints, out, 64, 33792 * f);
  random_walks__divergence<<<528 * f, 128>>>((unsigned*)ints, out, 67584 * f);
  cudaFuncSetAttribute(stateful_copy__low_occupancy, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       100000);
  stateful_copy__low_occupancy<<<264, 64, 100000>>>((float4*)A, (float4*)Y, 3840 * f);
  heat__barriers<<<1056 * f, 512>>>(A, Y, 48);
  both_masks__narrow_accesses<<<8192 * f, 256>>>(bytes, bytes + N / 2, (unsigned char*)out,
                                                 (2 << 20) * f);
  band_energies__too_few_blocks<<<12, 256>>>(A, Y, 65536 * f);
  mean_ratings__uneven_blocks<<<users, 128>>>(first, ratings, Y);
  moments__repeated_stores<<<512 * f, 256>>>(A, Y, 16, 131072 * f);
  blend__healthy<<<1024 * f, 256>>>((uint4*)A, (uint4*)B, (uint4*)Y, (1 << 18) * f);
  row_maxima__healthy<<<512 * f, 256>>>((float4*)A, Y, 4096 * f);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(e));
  return e != cudaSuccess;
}
