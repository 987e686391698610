// Simulations: stencils, particles, linear algebra, sequences of genes.
#include "arrays.cuh"

__global__ void jacobi_3d_shared(const float* u, const float* f, float* v, int n) {
  __shared__ float s[6][10][34];
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  int i = blockIdx.x * 32 + x, j = blockIdx.y * 8 + y, k = blockIdx.z * 4 + z;
  int at = (k * n + j) * n + i;
  bool inner = i > 0 && i < n - 1 && j > 0 && j < n - 1 && k > 0 && k < n - 1;
  s[z + 1][y + 1][x + 1] = u[at];
  if (x == 0 && i > 0) s[z + 1][y + 1][0] = u[at - 1];
  if (x == 31 && i < n - 1) s[z + 1][y + 1][33] = u[at + 1];
  if (y == 0 && j > 0) s[z + 1][0][x + 1] = u[at - n];
  if (y == 7 && j < n - 1) s[z + 1][9][x + 1] = u[at + n];
  if (z == 0 && k > 0) s[0][y + 1][x + 1] = u[at - n * n];
  if (z == 3 && k < n - 1) s[5][y + 1][x + 1] = u[at + n * n];
  __syncthreads();
  if (!inner) return;
  v[at] = (s[z + 1][y + 1][x] + s[z + 1][y + 1][x + 2] + s[z + 1][y][x + 1] +
           s[z + 1][y + 2][x + 1] + s[z][y + 1][x + 1] + s[z + 2][y + 1][x + 1] - f[at]) /
          6;
}

__constant__ int ex[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int ey[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float weight[9] = {4 / 9.f,  1 / 9.f,  1 / 9.f,  1 / 9.f, 1 / 9.f,
                                1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};

__global__ void lattice_boltzmann(const float* f, float* g, int nx, int ny, float omega) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  float in[9], rho = 0, ux = 0, uy = 0;
  for (int q = 0; q < 9; ++q) {
    int px = (x - ex[q] + nx) % nx, py = (y - ey[q] + ny) % ny;
    in[q] = f[q * nx * ny + py * nx + px];
    rho += in[q], ux += ex[q] * in[q], uy += ey[q] * in[q];
  }
  ux /= rho, uy /= rho;
  float square = 1.5f * (ux * ux + uy * uy);
  for (int q = 0; q < 9; ++q) {
    float eu = 3 * (ex[q] * ux + ey[q] * uy);
    float equal = weight[q] * rho * (1 + eu + 0.5f * eu * eu - square);
    g[q * nx * ny + y * nx + x] = in[q] + omega * (equal - in[q]);
  }
}

// A block aligns one pair of 256 letters, one antidiagonal at a time.
__global__ void smith_waterman(const char* a, const char* b, int* score) {
  __shared__ int h[3][257];
  __shared__ char letters[256];
  int t = threadIdx.x, best = 0;
  char mine = a[blockIdx.x * 256 + t];
  letters[t] = b[blockIdx.x * 256 + t];
  for (int d = 0; d < 3; ++d) h[d][t + 1] = 0;
  if (t < 3) h[t][0] = 0;
  __syncthreads();
  for (int d = 0; d < 511; ++d) {
    int now = d % 3, one = (d + 2) % 3, two = (d + 1) % 3, j = d - t;
    if (j >= 0 && j < 256) {
      int match = h[two][t] + (letters[j] == mine ? 2 : -1);
      int gap = max(h[one][t], h[one][t + 1]) - 1;
      int value = max(0, max(match, gap));
      h[now][t + 1] = value;
      best = max(best, value);
    }
    __syncthreads();
  }
  atomicMax(&score[blockIdx.x], best);
}

// Blocks factor matrices of 32 x 32 in place.
__global__ void lu_of_32x32(float* a) {
  __shared__ float s[32][33];
  int x = threadIdx.x, y = threadIdx.y;
  for (int r = y; r < 32; r += 8) s[r][x] = a[blockIdx.x * 1024 + r * 32 + x];
  __syncthreads();
  for (int k = 0; k < 31; ++k) {
    if (y == 0 && x > k) s[x][k] /= s[k][k];
    __syncthreads();
    for (int r = k + 1 + y; r < 32; r += 8) {
      if (x > k) s[r][x] -= s[r][k] * s[k][x];
    }
    __syncthreads();
  }
  for (int r = y; r < 32; r += 8) a[blockIdx.x * 1024 + r * 32 + x] = s[r][x];
}

__global__ void gravity_all_pairs(const float4* body, float4* velocity, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = body[i];
  float fx = 0, fy = 0, fz = 0;
  for (int j = 0; j < n; ++j) {
    float4 o = body[j];
    float dx = o.x - p.x, dy = o.y - p.y, dz = o.z - p.z;
    float r = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-4f);
    float w = o.w * r * r * r;
    fx += w * dx, fy += w * dy, fz += w * dz;
  }
  velocity[i].x += dt * fx, velocity[i].y += dt * fy, velocity[i].z += dt * fz;
}

__global__ void pi_by_darts(unsigned long long* inside, int darts) {
  unsigned long long state = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761ull + 1;
  int hits = 0;
  for (int k = 0; k < darts; ++k) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    float x = (unsigned)(state >> 32) * 2.3283064e-10f;
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    float y = (unsigned)(state >> 32) * 2.3283064e-10f;
    if (x * x + y * y < 1) ++hits;
  }
  atomicAdd(inside, (unsigned long long)hits);
}

__global__ void fft_pass_radix_4(const float2* x, float2* y, int n, int p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, quarter = n / 4, k = i & (p - 1);
  float angle = -6.2831853f * k / (4 * p), s, c;
  float2 u[4];
  for (int r = 0; r < 4; ++r) {
    float2 v = x[i + r * quarter];
    sincosf(angle * r, &s, &c);
    u[r] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
  }
  float2 a = {u[0].x + u[2].x, u[0].y + u[2].y}, b = {u[0].x - u[2].x, u[0].y - u[2].y};
  float2 d = {u[1].x + u[3].x, u[1].y + u[3].y}, e = {u[1].y - u[3].y, u[3].x - u[1].x};
  int at = ((i - k) << 2) + k;
  y[at] = make_float2(a.x + d.x, a.y + d.y);
  y[at + p] = make_float2(b.x + e.x, b.y + e.y);
  y[at + 2 * p] = make_float2(a.x - d.x, a.y - d.y);
  y[at + 3 * p] = make_float2(b.x - e.x, b.y - e.y);
}

int main() {
  const int n = 1 << 21;
  float *x = floats(9 * n / 4), *y = zeros<float>(9 * n / 4);
  jacobi_3d_shared<<<dim3(4, 16, 32), dim3(32, 8, 4)>>>(x, floats(n), y, 128);
  lattice_boltzmann<<<dim3(512 / 32, 512 / 8), dim3(32, 8)>>>(x, y, 512, 512, 1.2f);
  auto* genes = filled<char>(512 * 256, [](unsigned i) { return "ACGT"[mixed(i) % 4]; });
  smith_waterman<<<264, 256>>>(genes, genes + 128, zeros<int>(512));
  lu_of_32x32<<<1024, dim3(32, 8)>>>(filled<float>(
      1 << 20, [](unsigned i) { return mixed(i) * 0x1p-32f + (i % 1024 % 33 == 0 ? 32 : 0); }));
  gravity_all_pairs<<<64, 128>>>((float4*)x, (float4*)y, 1e-3f, 8192);
  pi_by_darts<<<528, 256>>>(zeros<unsigned long long>(1), 256);
  fft_pass_radix_4<<<(1 << 18) / 256, 256>>>((float2*)x, (float2*)y, 1 << 20, 64);
  return cudaDeviceSynchronize();
}
