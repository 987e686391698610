// Functions of the device against the host's.
#include <algorithm>
#include <cmath>
#include <cstdio>

// Mixed integers are compared as the unsigned one of them, on both sides.
__host__ __device__ bool mixed_extremes(long i, unsigned long n, long long j,
                                        unsigned long long m) {
  return min(i, n) == n && max(n, i) == static_cast<unsigned long>(i) && min(m, j) == m &&
         max(j, m) == static_cast<unsigned long long>(j);
}

__global__ void floats(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i >= n || !mixed_extremes(-1, 7, -2, 8)) return;
  const float v = x[i];
  y[i] = expf(v) + logf(v) + sinf(v) * cosf(v) + sqrtf(v) + rsqrtf(v) + powf(v, 1.5f) + tanhf(v) +
         erff(v) + fmaxf(v, 1.0f) + floorf(v) + fabsf(-v) + std::exp(-v) + atan2f(v, 2.0f) +
         fmodf(v, 0.7f) + std::max(v, 0.5f) + max(3, i) + __fdividef(v, 2.0f) + __expf(0.0f);
}

__global__ void doubles(const float* x, double* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  const double v = x[i];
  y[i] = exp(v) + log(v) + sin(v) * cos(v) + sqrt(v) + pow(v, 1.5) + tanh(v) + erf(v) + cbrt(v) +
         acos(1 / (1 + v)) + sin(1e10 * v) + fma(v, v, 1.0) + __dmul_rn(v, v) + hypot(v, 3.0);
}

int main() {
  const int n = 64;
  float x[n], y[n];
  double z[n];
  for (int i = 0; i < n; ++i) x[i] = 0.1f + 0.11f * i;
  float *d_x, *d_y;
  double* d_z;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_y, sizeof(y));
  cudaMalloc(&d_z, sizeof(z));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  floats<<<1, n>>>(d_x, d_y, n);
  doubles<<<1, n>>>(d_x, d_z, n);
  cudaMemcpy(y, d_y, sizeof(y), cudaMemcpyDeviceToHost);
  cudaMemcpy(z, d_z, sizeof(z), cudaMemcpyDeviceToHost);
  double worst_float = 0, worst_double = 0;
  for (int i = 0; i < n; ++i) {
    const double v = x[i];
    const double f = exp(v) + log(v) + sin(v) * cos(v) + sqrt(v) + 1 / sqrt(v) + pow(v, 1.5) +
                     tanh(v) + erf(v) + std::max(v, 1.0) + floor(v) + v + exp(-v) + atan2(v, 2.0) +
                     fmod(x[i], 0.7f) + std::max(v, 0.5) + std::max(3, i) + v / 2 + 1;
    const double d = exp(v) + log(v) + sin(v) * cos(v) + sqrt(v) + pow(v, 1.5) + tanh(v) + erf(v) +
                     cbrt(v) + acos(1 / (1 + v)) + sin(1e10 * v) + fma(v, v, 1.0) + v * v +
                     hypot(v, 3.0);
    worst_float = std::max(worst_float, std::abs(y[i] - f) / f);
    worst_double = std::max(worst_double, std::abs(z[i] - d) / d);
  }
  if (!mixed_extremes(-1, 7, -2, 8)) printf("min and max of mixed integers\n");
  printf("float %s, double %s\n", worst_float < 1e-6 ? "close" : "far",
         worst_double < 1e-14 ? "close" : "far");
  if (worst_float >= 1e-6 || worst_double >= 1e-14) printf("%g %g\n", worst_float, worst_double);
  cudaFree(d_x);
  cudaFree(d_y);
  cudaFree(d_z);
}
