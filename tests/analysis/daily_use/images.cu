// Images: filters, sizes, sums, convolutions.
#include "arrays.cuh"

__global__ void bilateral_7x7(const float* in, float* out, int width, int height, float sigma) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float centre = in[y * width + x], sum = 0, total = 0;
  for (int dy = -3; dy <= 3; ++dy) {
    for (int dx = -3; dx <= 3; ++dx) {
      int u = min(max(x + dx, 0), width - 1), v = min(max(y + dy, 0), height - 1);
      float value = in[v * width + u], d = value - centre;
      float w = expf(-(dx * dx + dy * dy) / 18.0f - d * d / (2 * sigma * sigma));
      sum += w * value, total += w;
    }
  }
  out[y * width + x] = sum / total;
}

__constant__ float gauss[17] = {.004f, .009f, .02f,  .038f, .063f, .092f, .117f, .134f, .14f,
                                .134f, .117f, .092f, .063f, .038f, .02f,  .009f, .004f};

__global__ void gauss_columns(const float* in, float* out, int width, int height) {
  __shared__ float s[16 + 64][32];
  int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 64 - 8;
  for (int r = threadIdx.y; r < 80; r += 8) {
    int y = y0 + r;
    s[r][threadIdx.x] = y >= 0 && y < height ? in[y * width + x] : 0;
  }
  __syncthreads();
  for (int r = threadIdx.y; r < 64; r += 8) {
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 17; ++k) sum += gauss[k] * s[r + k][threadIdx.x];
    out[(y0 + 8 + r) * width + x] = sum;
  }
}

__global__ void resize_bilinear_rgb(const uchar3* in, uchar3* out, int w, int h, int to_w,
                                    int to_h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= to_w || y >= to_h) return;
  float fx = (x + 0.5f) * w / to_w - 0.5f, fy = (y + 0.5f) * h / to_h - 0.5f;
  int x0 = max((int)floorf(fx), 0), y0 = max((int)floorf(fy), 0);
  int x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
  float ax = fx - x0, ay = fy - y0;
  uchar3 a = in[y0 * w + x0], b = in[y0 * w + x1], c = in[y1 * w + x0], d = in[y1 * w + x1];
  auto mix = [=](float p, float q, float r, float s) {
    return (unsigned char)((p + (q - p) * ax) * (1 - ay) + (r + (s - r) * ax) * ay + 0.5f);
  };
  out[y * to_w + x] =
      make_uchar3(mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y), mix(a.z, b.z, c.z, d.z));
}

__global__ void integral_of_rows(const unsigned char* in, unsigned* out, int width) {
  __shared__ unsigned part[8];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  unsigned carry = 0;
  for (int x = t; x < width; x += 256) {
    unsigned v = in[blockIdx.x * width + x];
    for (int o = 1; o < 32; o <<= 1) {
      unsigned other = __shfl_up_sync(0xffffffff, v, o);
      if (lane >= o) v += other;
    }
    if (lane == 31) part[warp] = v;
    __syncthreads();
    unsigned before = carry;
    for (int w = 0; w < 8; ++w) {
      if (w < warp) before += part[w];
      carry += part[w];
    }
    out[blockIdx.x * width + x] = v + before;
    __syncthreads();
  }
}

__global__ void conv3x3_16_channels(const float* in, const float* w, float* out, int width,
                                    int height) {
  __shared__ float tile[16][10][34];
  int x = blockIdx.x * 32, y = blockIdx.y * 8, t = threadIdx.y * 32 + threadIdx.x;
  for (int i = t; i < 16 * 10 * 34; i += 256) {
    int c = i / 340, r = i % 340 / 34, u = i % 34;
    int gx = x + u - 1, gy = y + r - 1;
    bool inside = gx >= 0 && gx < width && gy >= 0 && gy < height;
    tile[c][r][u] = inside ? in[(c * height + gy) * width + gx] : 0;
  }
  __syncthreads();
  for (int o = 0; o < 16; ++o) {
    float sum = 0;
    for (int c = 0; c < 16; ++c) {
      for (int r = 0; r < 3; ++r) {
        for (int k = 0; k < 3; ++k) {
          sum += w[((o * 16 + c) * 3 + r) * 3 + k] * tile[c][threadIdx.y + r][threadIdx.x + k];
        }
      }
    }
    out[(o * height + y + threadIdx.y) * width + x + threadIdx.x] = fmaxf(sum, 0);
  }
}

int main() {
  const int n = 1 << 20;
  float *x = floats(4 * n), *y = zeros<float>(4 * n);
  bilateral_7x7<<<dim3(64, 64), dim3(16, 16)>>>(x, y, 1024, 1024, 0.1f);
  gauss_columns<<<dim3(2048 / 32, 1024 / 64), dim3(32, 8)>>>(x, y, 2048, 1024);
  auto* rgb = filled<unsigned char>(3 * n, [](unsigned i) { return mixed(i) & 255; });
  resize_bilinear_rgb<<<dim3(1536 / 32, 1536 / 8), dim3(32, 8)>>>(
      (uchar3*)rgb, (uchar3*)zeros<unsigned char>(3 * 1536 * 1536), 1024, 1024, 1536, 1536);
  integral_of_rows<<<1024, 256>>>(rgb, zeros<unsigned>(2 * n), 2048);
  conv3x3_16_channels<<<dim3(8, 32), dim3(32, 8)>>>(x, floats(16 * 16 * 9), y, 256, 256);
  return cudaDeviceSynchronize();
}
