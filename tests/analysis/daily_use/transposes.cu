// Transposes, permutations and layouts.
#include "arrays.cuh"

__global__ void transpose_plain(const float* x, float* y, int n) {
  int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  y[j * n + i] = x[i * n + j];
}

__global__ void transpose_conflicts(const float* x, float* y, int n) {
  __shared__ float s[32][32];
  int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (int r = ty; r < 32; r += 8) s[r][tx] = x[(by + r) * n + bx + tx];
  __syncthreads();
  for (int r = ty; r < 32; r += 8) y[(bx + r) * n + by + tx] = s[tx][r];
}

__global__ void transpose_padded_half(const __half* x, __half* y, int n) {
  __shared__ __half s[32][34];
  int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32;
  for (int r = ty; r < 32; r += 8) s[r][tx] = x[(by + r) * n + bx + tx];
  __syncthreads();
  for (int r = ty; r < 32; r += 8) y[(bx + r) * n + by + tx] = s[tx][r];
}

__global__ void permute_0213(const float4* x, float4* y, int b, int c, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int k = i % d, q = i / d % c, p = i / (d * c) % b, a = i / (d * c * b);
  y[((a * c + q) * b + p) * d + k] = x[i];
}

struct Particle {
  float x, y, z, vx, vy, vz, mass, charge;
};

__global__ void particles_to_arrays(const Particle* p, float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle q = p[i];
  x[i] = q.x, x[n + i] = q.y, x[2 * n + i] = q.z, x[3 * n + i] = q.mass;
}

__global__ void reverse_bytes(const uchar4* x, uchar4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uchar4 v = x[n - 1 - i];
  y[i] = make_uchar4(v.w, v.z, v.y, v.x);
}

int main() {
  const int n = 2048, m = n * n;
  float *x = floats(m), *y = zeros<float>(m);
  transpose_plain<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(x, y, n);
  transpose_conflicts<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(x, y, n);
  transpose_padded_half<<<dim3(n / 32, n / 32), dim3(32, 8)>>>((__half*)x, (__half*)y, n);
  permute_0213<<<m / 4 / 256, 256>>>((float4*)x, (float4*)y, 64, 16, 16);
  particles_to_arrays<<<m / 8 / 256, 256>>>((Particle*)x, y, m / 8);
  reverse_bytes<<<m / 256, 256>>>((uchar4*)x, (uchar4*)y, m);
  return cudaDeviceSynchronize();
}
