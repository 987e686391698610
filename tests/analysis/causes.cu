// Kernels of one known cause each, as in diseases.cu, for causes whose detail matters as well as
// their name: tests/cli/explain_test.cpp has both.

#include <cuda_fp16.h>

#include <cstdio>

constexpr int n = 1 << 18;

__global__ void __launch_bounds__(1024, 2)
    accumulators__register_spills(const float* x, float* y, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum[64];
#pragma unroll
  for (int j = 0; j < 64; ++j) sum[j] = x[i] + j;
  for (int s = 0; s < steps; ++s) {
    const float v = x[(i + s) % n];
#pragma unroll
    for (int j = 0; j < 64; ++j) sum[j] = sum[j] * v + sum[(j + 7) % 64];
  }
  float all = 0;
#pragma unroll
  for (int j = 0; j < 64; ++j) all += sum[j];
  y[i] = all;
}

__global__ void insertion_sort__local_memory(const float* x, float* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float stack[32];
  for (int j = 0; j < 32; ++j) stack[j] = x[j * count + i];
  for (int j = 1; j < 32; ++j) {
    const float one = stack[j];
    int at = j - 1;
    for (; at >= 0 && stack[at] > one; --at) stack[at + 1] = stack[at];
    stack[at + 1] = one;
  }
  y[i] = stack[16];
}

__global__ void follow__exposed_latency(const int* next, int* out, int steps) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = at;
  for (int s = 0; s < steps; ++s) at = next[at];
  out[i] = at;
}

__global__ void look_up__uncoalesced_accesses(const int* index, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[index[i]];
}

struct Body {
  float x, y, z, mass, u, v, w, charge;
};
__global__ void drift__uncoalesced_accesses(Body* bodies, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bodies[i].x += step * bodies[i].u;
}

__global__ void turn__uncoalesced_accesses(const float* x, float* y, int side) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  y[col * side + row] = x[row * side + col];
}

__global__ void squares__repeated_passes(const float* x, float* y, int columns) {
  const float* row = x + static_cast<size_t>(blockIdx.x) * columns;
  __shared__ float part[8];
  float mean = 0, square = 0;
  for (int pass = 0; pass < 3; ++pass) {
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += 256) {
      const float v = row[i] - mean;
      sum += pass == 0 ? v : v * v;
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    float all = 0;
    for (int i = 0; i < 8; ++i) all += part[i];
    __syncthreads();
    (pass == 0 ? mean : square) = all / columns;
  }
  if (threadIdx.x == 0) y[blockIdx.x] = square;
}

__global__ void product__tensor_cores_unused(const __half* a, const __half* b, float* c, int size) {
  __shared__ __half as[64][16], bs[16][64];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  float sum[4][4] = {};
  for (int k = 0; k < size; k += 16) {
    for (int i = t; i < 64 * 16; i += 256) {
      as[i / 16][i % 16] = a[(blockIdx.y * 64 + i / 16) * size + k + i % 16];
      bs[i / 64][i % 64] = b[(k + i / 64) * size + blockIdx.x * 64 + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 16; ++i) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          sum[r][s] += __half2float(as[ty + 16 * r][i]) * __half2float(bs[i][tx + 16 * s]);
        }
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) {
    for (int s = 0; s < 4; ++s) {
      c[(blockIdx.y * 64 + ty + 16 * r) * size + blockIdx.x * 64 + tx + 16 * s] = sum[r][s];
    }
  }
}

__global__ void steps__launches(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = x[i] * 0.99f + 0.01f;
}

__global__ void remap__divisions(const int* x, int* y, int rows, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (int k = 1; k <= 16; ++k) {
    const int row = i / columns % rows, col = i % columns;
    sum += x[(row + k) % rows * columns + (col + k) % columns];
  }
  y[i] = sum;
}

__global__ void row_sums__too_few_blocks(const float* x, float* y, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += x[i * 1024 + row];
  y[row] = sum;
}

__global__ void strided_tree__bank_conflicts(const float* x, float* y) {
  __shared__ float part[1024];
  const int t = threadIdx.x;
  part[t] = x[blockIdx.x * 1024 + t];
  __syncthreads();
  for (int d = 1; d < 1024; d *= 2) {
    const int at = 2 * d * t;
    if (at < 1024) part[at] += part[at + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = part[0];
}

// Each block adds as little as a warp loads at once.
__global__ void sums_of_blocks__atomics_at_one_address(const float* x, float* y) {
  float sum = x[blockIdx.x * 32 + threadIdx.x];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
  if (threadIdx.x == 0) atomicAdd(y, sum);
}

__global__ void tiled_turn__healthy(const float* x, float* y, int side) {
  __shared__ float tile[32][33];
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * side + col];
  __syncthreads();
  const int to_col = blockIdx.y * 32 + threadIdx.x, to_row = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8)
    y[(to_row + i) * side + to_col] = tile[threadIdx.x][threadIdx.y + i];
}

int main() {
  constexpr int side = 2048, elements = side * side;
  float *x, *y;
  int *index, *out;
  __half* halves;
  cudaMalloc(&x, elements * sizeof(float));
  cudaMalloc(&y, elements * sizeof(float));
  cudaMalloc(&index, elements * sizeof(int));
  cudaMalloc(&out, elements * sizeof(int));
  cudaMalloc(&halves, elements * sizeof(__half));
  cudaMemset(x, 0, elements * sizeof(float));
  cudaMemset(halves, 0, elements * sizeof(__half));
  int* links = new int[elements];
  for (int i = 0; i < elements; ++i) links[i] = static_cast<int>((i * 1664525LL + 1013904223) % n);
  cudaMemcpy(index, links, elements * sizeof(int), cudaMemcpyHostToDevice);
  delete[] links;
  accumulators__register_spills<<<n / 1024, 1024>>>(x, y, 8);
  insertion_sort__local_memory<<<4096 / 128, 128>>>(x, y, 4096);
  follow__exposed_latency<<<132, 32>>>(index, out, 200);
  look_up__uncoalesced_accesses<<<n / 256, 256>>>(index, x, y);
  drift__uncoalesced_accesses<<<n / 256, 256>>>(reinterpret_cast<Body*>(x), 0.1f);
  turn__uncoalesced_accesses<<<dim3(32, 128), dim3(32, 8)>>>(x, y, 1024);
  squares__repeated_passes<<<128, 256>>>(x, y, 32768);
  product__tensor_cores_unused<<<dim3(16, 16), 256>>>(halves, halves, y, 1024);
  for (int i = 0; i < 20; ++i) steps__launches<<<4, 256>>>(x);
  remap__divisions<<<n / 256, 256>>>(index, out, 511, 511);
  row_sums__too_few_blocks<<<4, 256>>>(x, y, 2048);
  strided_tree__bank_conflicts<<<1024, 1024>>>(x, y);
  sums_of_blocks__atomics_at_one_address<<<elements / 32, 32>>>(x, y);
  tiled_turn__healthy<<<dim3(64, 64), dim3(32, 8)>>>(x, y, side);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(x);
  cudaFree(y);
  cudaFree(index);
  cudaFree(out);
  cudaFree(halves);
}
