// Simulations: arithmetic, special functions, divergence, registers.
#include "arrays.cuh"

__global__ void nbody_shared(const float4* p, float4* a, int n) {
  __shared__ float4 s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float4 me = p[i], sum = {0, 0, 0, 0};
  for (int j = 0; j < n; j += 128) {
    s[threadIdx.x] = p[j + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 128; ++k) {
      float dx = s[k].x - me.x, dy = s[k].y - me.y, dz = s[k].z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), f = s[k].w * r * r * r;
      sum.x += dx * f, sum.y += dy * f, sum.z += dz * f;
    }
    __syncthreads();
  }
  a[i] = sum;
}

__global__ void mandelbrot(int* out, int width, int most) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, k = 0;
  float cr = x * 3.0f / width - 2.2f, ci = y * 3.0f / width - 1.5f, r = 0, i = 0;
  for (; k < most && r * r + i * i < 4; ++k) {
    float t = r * r - i * i + cr;
    i = 2 * r * i + ci, r = t;
  }
  out[y * width + x] = k;
}

__global__ void monte_carlo_option(float* sums, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = mixed(i + 1) | 1;
  float sum = 0;
  for (int k = 0; k < steps; ++k) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    float u = (x >> 8) * 0x1p-24f + 0x1p-25f;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    float v = (x >> 8) * 0x1p-24f;
    float z = sqrtf(-2 * __logf(u)) * __cosf(6.2831853f * v);
    sum += fmaxf(0, 100 * __expf(0.02f + 0.3f * z) - 100);
  }
  sums[i] = sum / steps;
}

__global__ void spheres_hit(const float4* sphere, float* depth, int spheres, int width) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float ox = x * 1.0f / width, oy = y * 1.0f / width, nearest = 1e30f;
  for (int k = 0; k < spheres; ++k) {
    float4 s = sphere[k];
    float dx = ox - s.x, dy = oy - s.y, in = s.w * s.w * 0.04f - dx * dx - dy * dy;
    if (in > 0) nearest = fminf(nearest, s.z - sqrtf(in));
  }
  depth[y * width + x] = nearest;
}

__global__ void lennard_jones_neighbours(const float4* p, const int* list, float* energy, int n,
                                         int neighbours) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = p[i];
  float sum = 0;
  for (int k = 0; k < neighbours; ++k) {
    float4 q = p[list[k * n + i]];
    float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z, r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < 0.5f && r2 > 0) {
      float s = 0.01f / r2, s6 = s * s * s;
      sum += 4 * (s6 * s6 - s6);
    }
  }
  energy[i] = sum;
}

__global__ void __launch_bounds__(256, 8) matrices_inverted(const float* a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float m[6][6], e[6][6];
#pragma unroll
  for (int r = 0; r < 6; ++r) {
#pragma unroll
    for (int c = 0; c < 6; ++c)
      m[r][c] = a[(r * 6 + c) * n + i] + (r == c ? 6 : 0), e[r][c] = r == c;
  }
#pragma unroll
  for (int k = 0; k < 6; ++k) {
    float inverse = __fdividef(1, m[k][k]);
#pragma unroll
    for (int c = 0; c < 6; ++c) m[k][c] *= inverse, e[k][c] *= inverse;
#pragma unroll
    for (int r = 0; r < 6; ++r) {
      if (r == k) continue;
      float f = m[r][k];
#pragma unroll
      for (int c = 0; c < 6; ++c) m[r][c] -= f * m[k][c], e[r][c] -= f * e[k][c];
    }
  }
#pragma unroll
  for (int r = 0; r < 6; ++r) {
#pragma unroll
    for (int c = 0; c < 6; ++c) out[(r * 6 + c) * n + i] = e[r][c];
  }
}

__global__ void rk4_lorenz_f64(double* state, int steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double x = state[i], y = state[n + i], z = state[2 * n + i], h = 1e-3;
  for (int k = 0; k < steps; ++k) {
    double ax = 10 * (y - x), ay = x * (28 - z) - y, az = x * y - 2.6667 * z;
    double bx = x + h / 2 * ax, by = y + h / 2 * ay, bz = z + h / 2 * az;
    x += h * 10 * (by - bx), y += h * (bx * (28 - bz) - by), z += h * (bx * by - 2.6667 * bz);
  }
  state[i] = x, state[n + i] = y, state[2 * n + i] = z;
}

int main() {
  const int n = 1 << 18;
  auto* p = (float4*)floats(4 * n);
  nbody_shared<<<64, 128>>>(p, (float4*)zeros<float>(4 * n), 8192);
  mandelbrot<<<dim3(64, 64), dim3(16, 16)>>>(zeros<int>(1 << 20), 1024, 256);
  monte_carlo_option<<<512, 256>>>(zeros<float>(n), 64);
  spheres_hit<<<dim3(32, 32), dim3(16, 16)>>>(p, zeros<float>(n), 128, 512);
  lennard_jones_neighbours<<<n / 256, 256>>>(p, integers(32 * n, n), zeros<float>(n), n, 32);
  matrices_inverted<<<256, 256>>>(floats(36 << 16), zeros<float>(36 << 16), 1 << 16);
  auto* d = filled<double>(3 << 16, [](unsigned i) { return 1 + mixed(i) * 0x1p-32; });
  rk4_lorenz_f64<<<256, 256>>>(d, 100, 1 << 16);
  return cudaDeviceSynchronize();
}
