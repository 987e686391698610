// Sparse matrices.
#include "arrays.cuh"

__global__ void csr_row_per_thread(const int* start, const int* column, const float* value,
                                   const float* x, float* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int e = start[r]; e < start[r + 1]; ++e) sum += value[e] * x[column[e]];
  y[r] = sum;
}

__global__ void csr_row_per_warp(const int* start, const int* column, const float* value,
                                 const float* x, float* y, int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0;
  for (int e = start[r] + lane; e < start[r + 1]; e += 32) sum += value[e] * x[column[e]];
  for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
  if (lane == 0) y[r] = sum;
}

__global__ void ell_columns(const int* column, const float* value, const float* x, float* y,
                            int rows, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int j = 0; j < width; ++j) {
    int c = column[j * rows + r];
    if (c >= 0) sum += value[j * rows + r] * x[c];
  }
  y[r] = sum;
}

__global__ void coo_atomics(const int* row, const int* column, const float* value, const float* x,
                            float* y, int entries) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < entries) atomicAdd(&y[row[e]], value[e] * x[column[e]]);
}

__global__ void csr_times_32_columns(const int* start, const int* column, const float* value,
                                     const float* b, float* c) {
  int r = blockIdx.x * 8 + threadIdx.y, lane = threadIdx.x;
  float sum = 0;
  for (int e = start[r]; e < start[r + 1]; ++e) sum += value[e] * b[column[e] * 32 + lane];
  c[r * 32 + lane] = sum;
}

__global__ void sampled_products(const int* row, const int* column, const float4* a,
                                 const float4* b, float* out, int entries) {
  int e = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
  if (e >= entries) return;
  float4 x = a[row[e] * 8 + lane], y = b[column[e] * 8 + lane];
  float dot = x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
  for (int o = 4; o > 0; o /= 2) dot += __shfl_xor_sync(~0u, dot, o);
  if (lane == 0) out[e] = dot;
}

int main() {
  const int rows = 1 << 16, width = 32, n = rows * width;
  float *x = floats(4 * n), *y = zeros<float>(n);
  // Rows of 8 to 55 entries.
  int* start = filled<int>(rows + 1,
                           [](unsigned r) { return r * 32 + (int)(mixed(r) % 24) - 12 * (r > 0); });
  int* column = integers(n + 64, rows);
  csr_row_per_thread<<<rows / 128, 128>>>(start, column, x, x, y, rows - 1);
  csr_row_per_warp<<<rows / 8, 256>>>(start, column, x, x, y, rows - 1);
  int* banded =
      filled<int>(n, [=](unsigned i) { return (int)(i % rows) + (int)(i / rows) * 3 - 40; });
  ell_columns<<<rows / 256, 256>>>(banded, x, x, y, rows, 24);
  int* row = filled<int>(n, [](unsigned e) { return e / 32; });
  coo_atomics<<<n / 2 / 256, 256>>>(row, column, x, x, y, n / 2);
  csr_times_32_columns<<<rows / 4 / 8, dim3(32, 8)>>>(start, column, x, x, y);
  sampled_products<<<n / 8 / 32, 256>>>(row, column, (float4*)x, (float4*)x, y, n / 8);
  return cudaDeviceSynchronize();
}
