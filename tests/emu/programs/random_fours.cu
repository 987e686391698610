// cuRAND: four numbers per call from Philox, and pairs of log-normal numbers. The expected values
// are from NVIDIA's headers, compiled by nvcc, except for Poisson numbers: their algorithm differs.
#include <curand_kernel.h>

#include <cstdio>

__global__ void draw(double* to, unsigned int* counts) {
  curandStatePhilox4_32_10_t state;
  curand_init(1234, 3, 0, &state);
  const double4 uniform = curand_uniform4_double(&state);
  const double4 normal = curand_normal4_double(&state);
  const float4 log_normal = curand_log_normal4(&state, 1.0f, 0.5f);
  to[0] = uniform.x, to[1] = uniform.w, to[2] = normal.x, to[3] = normal.w;
  to[4] = log_normal.y, to[5] = curand_log_normal4_double(&state, 1.0, 0.5).z;
  curandState other;
  curand_init(1234, 3, 0, &other);
  const float2 pair = curand_log_normal2(&other, 0.0f, 1.0f);
  const double2 pair_double = curand_log_normal2_double(&other, 0.0, 1.0);
  to[6] = pair.y, to[7] = pair_double.x;
  for (int i = 0; i < 500; ++i) {
    const uint4 four = curand_poisson4(&state, 6.0);
    counts[0] += four.x + four.y + four.z + four.w;
  }
}

int main() {
  double* numbers;
  unsigned int* counts;
  cudaMallocManaged(&numbers, 8 * sizeof(double));
  cudaMallocManaged(&counts, sizeof(unsigned int));
  counts[0] = 0;
  draw<<<1, 1>>>(numbers, counts);
  cudaDeviceSynchronize();
  for (int i = 0; i < 8; ++i) printf("%.5f ", numbers[i]);
  printf("%d\n", counts[0] > 11600 && counts[0] < 12400);
  cudaFree(numbers);
  cudaFree(counts);
}
