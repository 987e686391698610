// Scans and compaction.
#include "arrays.cuh"

__global__ void scan_hillis_steele(const int* x, int* y) {
  __shared__ int s[2][512];
  int t = threadIdx.x, from = 0;
  s[0][t] = x[blockIdx.x * 512 + t];
  __syncthreads();
  for (int o = 1; o < 512; o *= 2, from ^= 1) {
    s[from ^ 1][t] = t >= o ? s[from][t] + s[from][t - o] : s[from][t];
    __syncthreads();
  }
  y[blockIdx.x * 512 + t] = s[from][t];
}

__global__ void scan_blelloch(const float* x, float* y) {
  __shared__ float s[1024];
  int t = threadIdx.x, base = blockIdx.x * 1024;
  s[t] = x[base + t], s[t + 512] = x[base + t + 512];
  for (int d = 1; d < 1024; d *= 2) {
    __syncthreads();
    int i = 2 * d * (t + 1) - 1;
    if (i < 1024) s[i] += s[i - d];
  }
  __syncthreads();
  if (t == 0) s[1023] = 0;
  for (int d = 512; d > 0; d /= 2) {
    __syncthreads();
    int i = 2 * d * (t + 1) - 1;
    if (i < 1024) {
      float left = s[i - d];
      s[i - d] = s[i];
      s[i] += left;
    }
  }
  __syncthreads();
  y[base + t] = s[t], y[base + t + 512] = s[t + 512];
}

__global__ void scan_by_shuffles(const float4* x, float4* y) {
  __shared__ float sums[8];
  int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 256 + t;
  float4 v = x[i];
  v.y += v.x, v.z += v.y, v.w += v.z;
  float total = v.w;
  for (int o = 1; o < 32; o *= 2) {
    float other = __shfl_up_sync(~0u, total, o);
    if (lane >= o) total += other;
  }
  if (lane == 31) sums[t / 32] = total;
  __syncthreads();
  float before = total - v.w;
  for (int w = 0; w < t / 32; ++w) before += sums[w];
  y[i] = make_float4(v.x + before, v.y + before, v.z + before, v.w + before);
}

__global__ void cumulative_rows(const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int j = 0; j < columns; ++j) y[j * rows + row] = sum += x[j * rows + row];
}

__global__ void compact_by_ballot(const int* x, int* y, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  bool keep = i < n && x[i] % 3 == 0;
  unsigned kept = __ballot_sync(~0u, keep);
  int base = 0;
  if (lane == 0 && kept) base = atomicAdd(count, __popc(kept));
  base = __shfl_sync(~0u, base, 0);
  if (keep) y[base + __popc(kept & ((1u << lane) - 1))] = x[i];
}

__global__ void running_max_one_block(const float* x, float* y, int n) {
  __shared__ float last[32];
  int t = threadIdx.x, lane = t % 32;
  float carried = -1e30f;
  for (int i = t; i < n; i += 1024) {
    float v = x[i];
    for (int o = 1; o < 32; o *= 2) {
      float other = __shfl_up_sync(~0u, v, o);
      if (lane >= o) v = fmaxf(v, other);
    }
    if (lane == 31) last[t / 32] = v;
    __syncthreads();
    float before = carried, all = carried;
    for (int w = 0; w < 32; ++w) {
      if (w < t / 32) before = fmaxf(before, last[w]);
      all = fmaxf(all, last[w]);
    }
    y[i] = fmaxf(v, before);
    carried = all;
    __syncthreads();
  }
}

int main() {
  const int n = 1 << 22;
  float* x = floats(n);
  int* k = integers(n, 1000);
  scan_hillis_steele<<<n / 512, 512>>>(k, zeros<int>(n));
  scan_blelloch<<<n / 1024, 512>>>(x, zeros<float>(n));
  scan_by_shuffles<<<n / 1024, 256>>>((float4*)x, (float4*)zeros<float>(n));
  cumulative_rows<<<128, 128>>>(x, zeros<float>(n), 16384, 256);
  compact_by_ballot<<<n / 256, 256>>>(k, zeros<int>(n), zeros<int>(1), n);
  running_max_one_block<<<1, 1024>>>(x, zeros<float>(n), 1 << 16);
  return cudaDeviceSynchronize();
}
