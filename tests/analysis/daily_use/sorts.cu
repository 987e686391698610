// Sorting and searching: integers, barriers, divergence.
#include "arrays.cuh"

__global__ void bitonic_sort_1024(int* x) {
  __shared__ int s[1024];
  int t = threadIdx.x, base = blockIdx.x * 1024;
  s[t] = x[base + t], s[t + 512] = x[base + t + 512];
  for (int size = 2; size <= 1024; size *= 2) {
    for (int d = size / 2; d > 0; d /= 2) {
      __syncthreads();
      int i = 2 * t - (t & (d - 1)), a = s[i], b = s[i + d];
      if ((a > b) == ((i & size) == 0)) s[i] = b, s[i + d] = a;
    }
  }
  __syncthreads();
  x[base + t] = s[t], x[base + t + 512] = s[t + 512];
}

__global__ void bitonic_sort_warp(int* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, v = x[i];
  for (int size = 2; size <= 32; size *= 2) {
    for (int d = size / 2; d > 0; d /= 2) {
      int other = __shfl_xor_sync(~0u, v, d);
      bool lower = (lane & d) == 0, up = (lane & size) == 0;
      v = lower == up ? min(v, other) : max(v, other);
    }
  }
  x[i] = v;
}

__global__ void insertion_sort_16(int* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v[16];
  for (int j = 0; j < 16; ++j) v[j] = x[j * n + i];
  for (int j = 1; j < 16; ++j) {
    int key = v[j], k = j - 1;
    for (; k >= 0 && v[k] > key; --k) v[k + 1] = v[k];
    v[k + 1] = key;
  }
  for (int j = 0; j < 16; ++j) x[j * n + i] = v[j];
}

__global__ void radix_digits(const unsigned* x, int* counts, int shift, int n) {
  __shared__ int s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 0;
  __syncthreads();
  int first = blockIdx.x * 2048;
  for (int j = threadIdx.x; j < 2048; j += 256) atomicAdd(&s[x[first + j] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = s[threadIdx.x];
}

__global__ void lower_bounds(const int* sorted, const int* key, int* at, int n, int queries) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= queries) return;
  int low = 0, high = n, k = key[i];
  while (low < high) {
    int middle = (low + high) / 2;
    if (sorted[middle] < k)
      low = middle + 1;
    else
      high = middle;
  }
  at[i] = low;
}

__global__ void rank_by_counting(const float* x, int* rank, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, below = 0;
  float v = x[i];
  for (int j = 0; j < n; ++j) below += x[j] < v || (x[j] == v && j < i);
  rank[i] = below;
}

__global__ void top_8_of_rows(const float* x, float* best, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, rows = gridDim.x * blockDim.x;
  float top[8];
  for (int k = 0; k < 8; ++k) top[k] = -1;
  for (int j = 0; j < columns; ++j) {
    float v = x[j * rows + row];
    if (v <= top[7]) continue;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float a = fmaxf(top[k], v);
      v = fminf(top[k], v), top[k] = a;
    }
  }
  for (int k = 0; k < 8; ++k) best[k * rows + row] = top[k];
}

int main() {
  const int n = 1 << 20;
  int* x = integers(n, 1 << 30);
  bitonic_sort_1024<<<n / 1024, 512>>>(x);
  bitonic_sort_warp<<<n / 256, 256>>>(x);
  insertion_sort_16<<<n / 16 / 128, 128>>>(x, n / 16);
  radix_digits<<<n / 2048, 256>>>((unsigned*)x, zeros<int>(n), 8, n);
  int* sorted = filled<int>(n, [](unsigned i) { return 1000 * i; });
  lower_bounds<<<n / 256, 256>>>(sorted, integers(n, 1 << 30), zeros<int>(n), n, n);
  float* f = floats(n);
  rank_by_counting<<<32, 256>>>(f, zeros<int>(n), 8192);
  top_8_of_rows<<<128, 128>>>(f, zeros<float>(n), 64);
  return cudaDeviceSynchronize();
}
