// Stencils and filters of images.
#include "arrays.cuh"

__global__ void heat_5_points(const float* u, float* v, int nx, int ny) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  v[i] = u[i] + 0.1f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] - 4 * u[i]);
}

__global__ void heat_7_points_along_z(const float* u, float* v, int n) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, plane = n * n;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  float below = u[y * n + x], here = u[plane + y * n + x];
  for (int z = 1; z < n - 1; ++z) {
    int i = z * plane + y * n + x;
    float above = u[i + plane];
    v[i] = 0.4f * here + 0.1f * (below + above + u[i - 1] + u[i + 1] + u[i - n] + u[i + n]);
    below = here, here = above;
  }
}

__global__ void blur_5x5_shared(const float* x, float* y, int width) {
  __shared__ float s[20][36];
  int tx = threadIdx.x, ty = threadIdx.y, cx = blockIdx.x * 32, cy = blockIdx.y * 16;
  for (int i = ty * 32 + tx; i < 20 * 36; i += 512)
    s[i / 36][i % 36] = x[(cy + i / 36) * width + cx + i % 36];
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < 5; ++j) {
    for (int i = 0; i < 5; ++i) sum += s[ty + j][tx + i];
  }
  y[(cy + ty) * width + cx + tx] = sum / 25;
}

__global__ void sobel_bytes(const unsigned char* x, unsigned char* y, int width, int height) {
  int c = blockIdx.x * blockDim.x + threadIdx.x + 1, r = blockIdx.y + 1;
  if (c >= width - 1 || r >= height - 1) return;
  const unsigned char* p = x + r * width + c;
  int gx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[-1 + width];
  int gy =
      p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[1 - width];
  y[r * width + c] = min(255, abs(gx) + abs(gy));
}

__global__ void life_of_words(const unsigned* x, unsigned* y, int words, int rows) {
  int w = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
  if (w >= words) return;
  unsigned out = 0, row[3][3];
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      row[j][i] = x[(r + j + rows - 1) % rows * words + (w + i + words - 1) % words];
    }
  }
  for (int b = 0; b < 32; ++b) {
    int count = 0;
    for (int j = 0; j < 3; ++j) {
      unsigned l = b ? row[j][1] >> (b - 1) : row[j][1] << 1 | row[j][0] >> 31;
      count += __popc(l & 7) + (b == 31 ? (row[j][2] & 1) : 0);
    }
    int alive = row[1][1] >> b & 1;
    out |= (unsigned)(count == 3 || (count == 4 && alive)) << b;
  }
  y[r * words + w] = out;
}

__global__ void median_3x3(const float* x, float* y, int width, int height) {
  int c = blockIdx.x * 32 + threadIdx.x + 1, r = blockIdx.y * 8 + threadIdx.y + 1;
  if (c >= width - 1 || r >= height - 1) return;
  float v[9];
  for (int i = 0; i < 9; ++i) v[i] = x[(r + i / 3 - 1) * width + c + i % 3 - 1];
#pragma unroll
  for (int i = 0; i < 5; ++i) {
#pragma unroll
    for (int j = i + 1; j < 9; ++j) {
      float a = fminf(v[i], v[j]), b = fmaxf(v[i], v[j]);
      v[i] = a, v[j] = b;
    }
  }
  y[r * width + c] = v[4];
}

int main() {
  const int w = 2048, n = w * w;
  float *x = floats(n + 8 * w), *y = zeros<float>(n);
  heat_5_points<<<dim3(w / 32, w / 8), dim3(32, 8)>>>(x, y, w, w);
  heat_7_points_along_z<<<dim3(5, 40), dim3(32, 4)>>>(x, y, 160);
  blur_5x5_shared<<<dim3(63, 128), dim3(32, 16)>>>(x, y, w);
  auto* image = filled<unsigned char>(n, [](unsigned i) { return mixed(i) & 255; });
  sobel_bytes<<<dim3(w / 256, w - 2), 256>>>(image, zeros<unsigned char>(n), w, w);
  life_of_words<<<dim3(1, 2048), 128>>>((unsigned*)integers(n / 16, 1u << 31),
                                        zeros<unsigned>(n / 16), 128, 2048);
  median_3x3<<<dim3(w / 32, w / 8), dim3(32, 8)>>>(x, y, w, w);
  return cudaDeviceSynchronize();
}
