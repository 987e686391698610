// Elementwise kernels: DRAM, conversions, special functions.
#include "arrays.cuh"

__global__ void axpy_beyond_l2(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

__global__ void gelu_float4(const float4* x, const float4* bias, float4* y, int n, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = x[i], b = bias[i % columns];
  float* p = &v.x;
  const float* q = &b.x;
  for (int j = 0; j < 4; ++j) {
    float t = p[j] + q[j];
    p[j] = 0.5f * t * (1 + tanhf(0.79788456f * (t + 0.044715f * t * t * t)));
  }
  y[i] = v;
}

__global__ void swish_half2(const __half2* gate, const __half2* up, __half2* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 g = __half22float2(gate[i]), u = __half22float2(up[i]);
  y[i] = __floats2half2_rn(g.x / (1 + __expf(-g.x)) * u.x, g.y / (1 + __expf(-g.y)) * u.y);
}

__global__ void rgb_to_gray(const unsigned char* rgb, unsigned char* gray, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) gray[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
}

__global__ void adam_step(float* w, const float* g, float* m, float* v, float rate, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float gi = g[i], mi = 0.9f * m[i] + 0.1f * gi, vi = 0.999f * v[i] + 0.001f * gi * gi;
    m[i] = mi;
    v[i] = vi;
    w[i] -= rate * mi / (sqrtf(vi) + 1e-8f);
  }
}

__global__ void black_scholes(const float* price, const float* strike, float* call, float* put,
                              int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 5 + 25 * price[i], x = 1 + 99 * strike[i], r = 0.02f, sigma = 0.3f;
  float d1 = (logf(s / x) + (r + 0.5f * sigma * sigma)) / sigma, d2 = d1 - sigma;
  float n1 = normcdff(d1), n2 = normcdff(d2), e = x * expf(-r);
  call[i] = s * n1 - e * n2;
  put[i] = e * (1 - n2) - s * (1 - n1);
}

__global__ void polynomial_f64(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double t = x[i], sum = 1;
  for (int k = 1; k < 40; ++k) sum = sum * t + 1.0 / (k + 1);
  y[i] = sum;
}

int main() {
  const int n = 1 << 24, m = 1 << 21;
  float *x = floats(n), *y = floats(n);
  axpy_beyond_l2<<<n / 256, 256>>>(2, x, y, n);
  gelu_float4<<<m / 256, 256>>>((float4*)x, (float4*)y, (float4*)zeros<float>(4 * m), m, 768);
  auto half_of = [](unsigned i) { return __float2half(mixed(i) * 0x1p-31f - 1); };
  auto *g = filled<__half>(2 * m, half_of), *u = filled<__half>(2 * m, half_of);
  swish_half2<<<m / 128, 128>>>((__half2*)g, (__half2*)u, (__half2*)zeros<__half>(2 * m), m);
  auto* rgb = filled<unsigned char>(6 * m, [](unsigned i) { return mixed(i) & 255; });
  rgb_to_gray<<<2 * m / 256, 256>>>(rgb, zeros<unsigned char>(2 * m), 2 * m);
  adam_step<<<528, 256>>>(floats(m), x, zeros<float>(m), zeros<float>(m), 1e-3f, m);
  black_scholes<<<m / 256, 256>>>(x, y, zeros<float>(m), zeros<float>(m), m);
  auto* d = filled<double>(m, [](unsigned i) { return mixed(i) * 0x1p-32; });
  polynomial_f64<<<m / 256, 256>>>(d, zeros<double>(m), m);
  return cudaDeviceSynchronize();
}
