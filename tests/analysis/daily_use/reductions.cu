// Reductions: trees in shared memory, shuffles, atomics, columns, one thread a row.
#include "arrays.cuh"

__global__ void row_sum_by_warp(const float* x, float* sum, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float s = 0;
  for (int j = lane; j < columns; j += 32) s += x[row * columns + j];
  for (int o = 16; o > 0; o /= 2) s += __shfl_down_sync(~0u, s, o);
  if (lane == 0) sum[row] = s;
}

__global__ void sum_grid_stride(const float4* x, float* sum, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 v = x[i];
    s += v.x + v.y + v.z + v.w;
  }
  for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, s);
}

__global__ void block_max_tree(const float* x, float* most) {
  __shared__ float s[512];
  int t = threadIdx.x, i = blockIdx.x * 1024 + t;
  s[t] = fmaxf(fabsf(x[i]), fabsf(x[i + 512]));
  for (int h = 256; h > 0; h /= 2) {
    __syncthreads();
    if (t < h) s[t] = fmaxf(s[t], s[t + h]);
  }
  if (t == 0) most[blockIdx.x] = s[0];
}

__global__ void column_variance(const float* x, float* variance, int rows, int columns) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= columns) return;
  float mean = 0, m2 = 0;
  for (int i = 0; i < rows; ++i) {
    float v = x[i * columns + j], d = v - mean;
    mean += d / (i + 1);
    m2 += d * (v - mean);
  }
  variance[j] = m2 / rows;
}

__global__ void argmin_of_rows(const float* x, int* index, int columns) {
  __shared__ float value[256];
  __shared__ int where[256];
  int t = threadIdx.x, at = t;
  float least = 1e30f;
  for (int j = t; j < columns; j += 256) {
    float v = x[blockIdx.x * columns + j];
    if (v < least) least = v, at = j;
  }
  value[t] = least, where[t] = at;
  for (int h = 128; h > 0; h >>= 1) {
    __syncthreads();
    if (t < h && value[t + h] < value[t]) value[t] = value[t + h], where[t] = where[t + h];
  }
  if (t == 0) index[blockIdx.x] = where[0];
}

__global__ void count_by_ballot(const int* x, int* count, int limit, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, mine = 0;
  for (; i < n; i += gridDim.x * blockDim.x) mine += __popc(__ballot_sync(~0u, x[i] < limit));
  if (threadIdx.x % 32 == 0) atomicAdd(count, mine);
}

__global__ void dot_f64(const double* x, const double* y, double* part, int n) {
  __shared__ double s[8];
  double sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += x[i] * y[i];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < 8; ++w) sum += s[w];
    part[blockIdx.x] = sum;
  }
}

int main() {
  const int n = 1 << 22;
  float* x = floats(n);
  row_sum_by_warp<<<512, 256>>>(x, zeros<float>(4096), 4096, 1024);
  sum_grid_stride<<<264, 512>>>((float4*)x, zeros<float>(1), n / 4);
  block_max_tree<<<n / 1024, 512>>>(x, zeros<float>(n / 1024));
  column_variance<<<64, 128>>>(x, zeros<float>(8192), 512, 8192);
  argmin_of_rows<<<1024, 256>>>(x, zeros<int>(1024), 4096);
  count_by_ballot<<<528, 256>>>(integers(n, 1000), zeros<int>(1), 300, n);
  auto* d = filled<double>(n, [](unsigned i) { return mixed(i) * 0x1p-32; });
  dot_f64<<<396, 256>>>(d, d + n / 2, zeros<double>(396), n / 2);
  return cudaDeviceSynchronize();
}
