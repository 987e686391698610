// Histograms and other atomics.
#include "arrays.cuh"

__global__ void histogram_shared(const unsigned char* x, int* bins, int n) {
  __shared__ int s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&s[x[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

__global__ void histogram_skewed(const unsigned char* x, int* bins, int n) {
  __shared__ int s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    atomicAdd(&s[x[i] < 200 ? 7 : x[i]], x[i]);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}

__global__ void histogram_global_64(const int* x, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i] % 64], 1);
}

__global__ void scatter_add_floats(const int* index, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&y[index[i]], x[i]);
}

__global__ void max_of_segments(const int* segment, const int* x, int* most, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(&most[segment[i]], x[i]);
}

__global__ void count_aggregated(const int* key, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned peers = __match_any_sync(~0u, key[i]);
  if (threadIdx.x % 32 == __ffs(peers) - 1) atomicAdd(&count[key[i]], __popc(peers));
}

__global__ void mean_colour_of_clusters(const float4* pixel, const int* cluster, float* sums,
                                        int n) {
  __shared__ float s[16 * 4];
  if (threadIdx.x < 64) s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    float4 p = pixel[i];
    float* at = s + cluster[i] * 4;
    atomicAdd(at, p.x), atomicAdd(at + 1, p.y), atomicAdd(at + 2, p.z), atomicAdd(at + 3, 1.0f);
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&sums[threadIdx.x], s[threadIdx.x]);
}

int main() {
  const int n = 1 << 21;
  auto* bytes = filled<unsigned char>(4 * n, [](unsigned i) { return mixed(i) & 255; });
  int* bins = zeros<int>(1 << 20);
  histogram_shared<<<528, 256>>>(bytes, bins, 4 * n);
  histogram_skewed<<<528, 256>>>(bytes, bins, n);
  histogram_global_64<<<n / 4 / 256, 256>>>(integers(n, 1 << 20), bins, n / 4);
  scatter_add_floats<<<n / 256, 256>>>(integers(n, 1 << 20), floats(n), zeros<float>(1 << 20), n);
  max_of_segments<<<n / 256, 256>>>(filled<int>(n, [](unsigned i) { return i / 48; }),
                                    integers(n, 1 << 20), bins, n);
  count_aggregated<<<n / 256, 256>>>(integers(n, 16), bins, n);
  mean_colour_of_clusters<<<264, 256>>>((float4*)floats(n), integers(n / 4, 16), zeros<float>(64),
                                        n / 4);
  return cudaDeviceSynchronize();
}
