// Numbers of 4 and 6 bits, and E8M0: every conversion of many doubles in every mode, as a hash that CUDA's own headers
// give too; the device has the bits of the host.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <cstdio>
#include <cstring>
#include <vector>

constexpr int conversions = 10;

__host__ __device__ double number(unsigned index) {
  // Signs, exponents from -140 to 130, and fractions around the midpoints of all formats.
  const int exponent = static_cast<int>(index / 128) % 271 - 140;
  double value = 1 + index % 64 / 64.0;
  for (int i = 0; i < exponent; ++i) value *= 2;
  for (int i = 0; i > exponent; --i) value /= 2;
  return index & 64 ? -value : value;
}

__host__ __device__ unsigned convert(double value, int which) {
  switch (which) {
    case 0: return __nv_cvt_double_to_fp4(value, __NV_E2M1, cudaRoundNearest);
    case 1: return __nv_cvt_double_to_fp6(value, __NV_E2M3, cudaRoundNearest);
    case 2: return __nv_cvt_double_to_fp6(value, __NV_E3M2, cudaRoundNearest);
    case 3: return __nv_cvt_double_to_e8m0(value, __NV_SATFINITE, cudaRoundZero);
    case 4: return __nv_cvt_double_to_e8m0(value, __NV_NOSAT, cudaRoundPosInf);
    case 5: return __nv_cvt_float2_to_fp4x2({float(value), 1.5f}, __NV_E2M1, cudaRoundNearest);
    case 6: return __nv_cvt_float2_to_fp6x2({float(value), 1.5f}, __NV_E3M2, cudaRoundNearest);
    case 7: return __nv_cvt_fp4_to_halfraw(__nv_fp4_e2m1(value).__x, __NV_E2M1).x;
    case 8: return __nv_fp4x4_e2m1(float4{float(value), 1, -3, 6}).__x;
    default: return __nv_fp6x4_e2m3(float4{float(value), 1, -3, 6}).__x;
  }
}

__global__ void compare(const unsigned* host, int count, int* wrong) {
  const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (index >= count) return;
  for (int which = 0; which < conversions; ++which) {
    if (convert(number(index), which) != host[conversions * index + which]) atomicAdd(wrong, 1);
  }
}

int main() {
  constexpr int count = 128 * 271;
  std::vector<unsigned> all;
  unsigned long long hash = 1469598103934665603ull;
  for (int index = 0; index < count; ++index) {
    for (int which = 0; which < conversions; ++which) {
      all.push_back(convert(number(index), which));
      hash = (hash ^ all.back()) * 1099511628211ull;
    }
  }
  for (unsigned bits = 0; bits < 256; ++bits) {
    __nv_fp8_e8m0 power;
    power.__x = bits;
    float value = static_cast<float>(power);
    unsigned word;
    memcpy(&word, &value, sizeof word);
    hash = (hash ^ (bits == 255 ? 255 : word)) * 1099511628211ull;
  }
  printf("%016llx\n", hash);
#ifndef VENDOR
  unsigned* host;
  int* wrong;
  cudaMallocManaged(&host, all.size() * sizeof(unsigned));
  cudaMallocManaged(&wrong, sizeof(int));
  *wrong = 0;
  memcpy(host, all.data(), all.size() * sizeof(unsigned));
  compare<<<(count + 255) / 256, 256>>>(host, count, wrong);
  cudaDeviceSynchronize();
  printf("%d wrong\n", *wrong);
  cudaFree(host);
  cudaFree(wrong);
#endif
}
