// Kernels with one known disease each, and healthy kernels. The part of a kernel's name after `__`
// is the cause that `rung explain` should report, with _ for blanks, or "healthy".

#include <cstdio>

// Scales the number of blocks and the size of the data; a power of two.
#ifndef SCALE
#define SCALE 1
#endif
constexpr int factor = SCALE;
constexpr int n = factor << 20;
constexpr int side = 1024, height = factor * side;

// Accesses to global memory.

__global__ void rows_by_threads__uncoalesced_accesses(const float* x, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 32; ++i) sum += x[row * 32 + i];
  y[row] = sum;
}

__global__ void transpose__uncoalesced_accesses(const float* x, float* y) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  y[col * height + row] = x[row * side + col];
}

struct Particle {
  float x, y, z, mass, vx, vy, vz, charge;
};
__global__ void structures__uncoalesced_accesses(const Particle* particles, float* energy) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  energy[i] = particles[i].mass * particles[i].charge;
}

__global__ void strided_copy__uncoalesced_accesses(const float* x, float* y, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[static_cast<long>(i) * stride % n];
}

__global__ void odd_rows__misaligned_accesses(const float* x, float* y) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum += x[(row % 64 + k * 64) * 1001 + col + 3];
  y[row * 1024 + col] = sum;
}

__global__ void bytes__narrow_accesses(const unsigned char* x, unsigned char* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int stride = gridDim.x * blockDim.x;
  for (int at = i; at < 4 * n; at += stride) y[at] = x[at] + 1;
}

__global__ void matmul__repeated_loads(const float* a, const float* b, float* c, int size) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < size; ++k) sum += a[row * size + k] * b[k * size + col];
  c[row * size + col] = sum;
}

__global__ void sum_in_memory__repeated_stores(const float* x, volatile float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 32; ++k) y[i] = y[i] + x[(k * 4096 + i) & (n - 1)];
}

// Shared memory.

__global__ void tile_transpose__bank_conflicts(const float* x, float* y) {
  __shared__ float tile[32][32];
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * side + col];
  __syncthreads();
  const int to_col = blockIdx.y * 32 + threadIdx.x, to_row = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    y[(to_row + i) * height + to_col] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void strided_tree__bank_conflicts(const float* x, float* y) {
  __shared__ float part[2048];
  for (int i = threadIdx.x; i < 2048; i += 256) part[i] = x[(blockIdx.x * 2048 + i) & (n - 1)];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += part[(threadIdx.x * 8 + i) & 2047];
  y[blockIdx.x * 256 + threadIdx.x] = sum;
}

__global__ void tiled_matmul__shared_loads(const float* a, const float* b, float* c, int size) {
  __shared__ float as[16][16], bs[16][16];
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < size; k += 16) {
    as[threadIdx.y][threadIdx.x] = a[row * size + k + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * size + col];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  c[row * size + col] = sum;
}

// Use of lanes, warps and blocks.

__global__ void by_parity__divergence(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  if (i % 2 == 0) {
    for (int k = 0; k < 200; ++k) v = v * 1.0001f + 0.5f;
  } else {
    for (int k = 0; k < 200; ++k) v = v * 0.9999f - 0.5f;
  }
  y[i] = v;
}

__global__ void iterations_by_lane__divergence(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int k = 0; k < (i * 37 % 32) * 20; ++k) v = v * 1.0001f + 0.5f;
  y[i] = v;
}

__global__ void blocks_of_one_warp_and_a_bit__partial_warps(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i & (n - 1)];
  for (int k = 0; k < 400; ++k) v = v * 1.0001f + 0.5f;
  y[i & (n - 1)] = v;
}

__global__ void sum_by_first_thread__work_of_single_threads(const float* x, float* y) {
  __shared__ float part[256];
  part[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int i = 0; i < 256; ++i) sum += part[i];
  y[blockIdx.x] = sum;
}

__global__ void long_rows__too_few_blocks(const float* x, float* y) {
  float v = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 0; k < 2000; ++k) v = v * 1.0001f + 0.5f;
  y[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

__global__ void one_more_than_a_wave__last_wave(const float* x, float* y) {
  __shared__ float room[10 * 1024];
  room[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  float v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int k = 0; k < 500; ++k) {
    for (int j = 0; j < 8; ++j) v[j] = v[j] * 1.0001f + room[0];
  }
  for (int j = 0; j < 8; ++j) y[blockIdx.x * 1024 + threadIdx.x] += v[j];
}

__global__ void triangle__uneven_blocks(const float* x, float* y) {
  const int last = blockIdx.x % 64 == 0 ? 2048 : 32;
  float sum = 0;
  for (int i = 0; i < last; ++i) sum += x[(i * 256 + threadIdx.x) & (n - 1)];
  y[blockIdx.x * 256 + threadIdx.x] = sum;
}

__global__ void first_warp_gathers__uneven_warps(const float* x, float* y) {
  __shared__ float part[32];
  if (threadIdx.x < 32) {
    float sum = 0;
    for (int i = threadIdx.x; i < 4096; i += 32) sum += x[(blockIdx.x * 4096 + i) & (n - 1)];
    part[threadIdx.x] = sum;
  }
  __syncthreads();
  y[blockIdx.x * 1024 + threadIdx.x] = part[threadIdx.x % 32];
}

// Latency.

__global__ void large_tile__low_occupancy(const int* next, int* last) {
  extern __shared__ int tile[];
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 16; ++k) at = next[at];
  tile[threadIdx.x] = at;
  last[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x];
}

__global__ void chain__exposed_latency(const int* next, int* last) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 64; ++k) at = next[at];
  last[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

__global__ void barrier_for_each_step__barriers(const float* x, float* y) {
  __shared__ float part[128];
  part[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
  for (int k = 0; k < 200; ++k) {
    __syncthreads();
    const float next = part[(threadIdx.x + 1) & 127];
    __syncthreads();
    part[threadIdx.x] = next + 1.0f;
  }
  y[blockIdx.x * 128 + threadIdx.x] = part[threadIdx.x];
}

// Instructions.

__global__ void indexed_array__local_memory(const int* order, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float values[16];
  for (int k = 0; k < 16; ++k) values[k] = static_cast<float>(k * i);
  for (int k = 0; k < 64; ++k) values[(order[0] + k * 5) & 15] += values[(order[0] + k * 3) & 15];
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += values[(order[0] + k) & 15];
  y[i] = sum;
}

__global__ void literals__double_precision_by_accident(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int k = 0; k < 64; ++k) v = v * 1.0001 + 0.5;
  y[i] = v;
}

__global__ void wrapped_indices__divisions(const float* x, float* y, int width, int height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 32; ++k) {
    const int at = i + k * 7;
    sum += x[at / width % height + at % width];
  }
  y[i] = sum;
}

__global__ void four_dimensions__addresses(const float* x, float* y, int c, int h, int w, int pad) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 32; ++k) {
    const int row = (i >> 5) + (k & 3) - pad, col = (i & 31) + (k >> 2) - pad;
    const int in = row > 0 && row < h && col > 0 && col < w ? ((k & 1) * c + row) * w + col : 0;
    sum += x[in & (n - 1)];
  }
  y[i] = sum;
}

// Atomics.

__global__ void one_sum__atomics_at_one_address(const float* x, float* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(sum, x[i]);
}

// With a weight, since the compiler turns adding 1 into one instruction for all colliding lanes.
__global__ void histogram__atomics_at_one_shared_address(const int* x, unsigned* bins,
                                                         unsigned weight) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < 32; ++k) {
    atomicAdd(&mine[x[(blockIdx.x * 8192 + k * 256 + threadIdx.x) & (n - 1)] & 1], weight);
  }
  __syncthreads();
  if (threadIdx.x < 2) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

#include "healthy.cuh"

template <class T>
T* array(int count) {
  T* data;
  cudaMalloc(&data, count * sizeof(T));
  cudaMemset(data, 0, count * sizeof(T));
  return data;
}

int main() {
  float *x = array<float>(2 * n), *y = array<float>(2 * n), *z = array<float>(3 * n);
  int* order = array<int>(n);
  int* spread = array<int>(n);
  unsigned* bins = array<unsigned>(256);
  int* host = new int[n];
  for (int i = 0; i < n; ++i) host[i] = (i + 12352) & (n - 1);
  cudaMemcpy(order, host, n * sizeof(int), cudaMemcpyHostToDevice);
  for (int i = 0; i < n; ++i) host[i] = (i % (1 << 20) * 7919) >> 3;
  cudaMemcpy(spread, host, n * sizeof(int), cudaMemcpyHostToDevice);
  constexpr int row_count = factor * 8192;
  int* rows = array<int>(row_count);
  for (int i = 0; i < row_count; ++i) host[i] = i * 5 & (row_count - 1);
  cudaMemcpy(rows, host, row_count * sizeof(int), cudaMemcpyHostToDevice);
  delete[] host;

  const dim3 tiles(side / 32, height / 32), tile(32, 8), tall(side / 32, height / 8);
  rows_by_threads__uncoalesced_accesses<<<n / 32 / 64, 64>>>(x, y);
  transpose__uncoalesced_accesses<<<tall, tile>>>(x, y);
  structures__uncoalesced_accesses<<<n / 8 / 256, 256>>>(reinterpret_cast<Particle*>(x), y);
  strided_copy__uncoalesced_accesses<<<n / 4 / 256, 256>>>(x, y, 33);
  odd_rows__misaligned_accesses<<<dim3(60, factor * 64), dim3(16, 16)>>>(x, y);
  bytes__narrow_accesses<<<factor * 2048, 256>>>(reinterpret_cast<unsigned char*>(x),
                                                 reinterpret_cast<unsigned char*>(y));
  matmul__repeated_loads<<<dim3(32, factor * 32), dim3(16, 16)>>>(x, y, z, 512);
  sum_in_memory__repeated_stores<<<n / 4 / 256, 256>>>(x, y);

  tile_transpose__bank_conflicts<<<tiles, tile>>>(x, y);
  strided_tree__bank_conflicts<<<factor * 1024, 256>>>(x, y);
  tiled_matmul__shared_loads<<<dim3(32, factor * 32), dim3(16, 16)>>>(x, y, z, 512);

  by_parity__divergence<<<factor * 1024, 256>>>(x, y);
  iterations_by_lane__divergence<<<factor * 1024, 256>>>(x, y);
  blocks_of_one_warp_and_a_bit__partial_warps<<<factor * 8192, 36>>>(x, y);
  sum_by_first_thread__work_of_single_threads<<<factor * 2048, 256>>>(x, y);
  long_rows__too_few_blocks<<<factor * 16, 256>>>(x, y);
  one_more_than_a_wave__last_wave<<<factor * 132 * 2 + 4, 1024>>>(x, y);
  triangle__uneven_blocks<<<factor * 1056, 256>>>(x, y);
  first_warp_gathers__uneven_warps<<<factor * 264, 1024>>>(x, y);

  cudaFuncSetAttribute(large_tile__low_occupancy, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       100 * 1024);
  large_tile__low_occupancy<<<factor * 2112, 64, 100 * 1024>>>(order, spread);
  chain__exposed_latency<<<factor * 264, 256>>>(order, spread);
  barrier_for_each_step__barriers<<<factor * 528, 128>>>(x, y);

  indexed_array__local_memory<<<factor * 1056, 256>>>(rows, y);
  literals__double_precision_by_accident<<<factor * 1056, 256>>>(x, y);
  wrapped_indices__divisions<<<factor * 1056, 256>>>(x, y, 700, 300);

  four_dimensions__addresses<<<factor * 1056, 256>>>(x, y, 8, 5000, 40, 1);

  one_sum__atomics_at_one_address<<<factor * 256, 256>>>(x, z);
  histogram__atomics_at_one_shared_address<<<factor * 1056, 256>>>(order, bins, 3);

  const auto v = [](float* data) { return reinterpret_cast<float4*>(data); };
  add__healthy<<<n / 1024, 256>>>(v(x), v(y), v(z));
  axpy__healthy<<<n / 256, 256>>>(2.0f, x, y);
  padded_transpose__healthy<<<tiles, tile>>>(x, y);
  reduce__healthy<<<factor * 264, 256>>>(v(x), z);
  polynomial__healthy<<<n / 4 / 256, 256>>>(x, y);
  stencil__healthy<<<tall, tile>>>(x, y);
  copy__healthy<<<n / 1024, 256>>>(v(x), v(y));
  spread_histogram__healthy<<<factor * 1056, 256>>>(spread, bins);
  gather_rows__healthy<<<row_count / 8, 256>>>(x, rows, y);
  register_tile__healthy<<<dim3(12, factor * 11), 256>>>(x, y, z, 64);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
