// Numbers of 8 bits: every conversion of many floats, doubles and halves, as a hash that CUDA's own
// header gives too; the device has the bits of the host. Beside them, the names of NVTX.
#include <cuda_fp8.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstring>

constexpr __nv_saturation_t saturations[] = {__NV_NOSAT, __NV_SATFINITE};
constexpr __nv_fp8_interpretation_t kinds[] = {__NV_E4M3, __NV_E5M2};

__host__ __device__ unsigned convert(unsigned upper, int which) {
  const unsigned bits = upper << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return __nv_cvt_float_to_fp8(value, which & 1 ? __NV_SATFINITE : __NV_NOSAT,
                               which & 2 ? __NV_E5M2 : __NV_E4M3);
}

__global__ void compare(const unsigned char* host, int* wrong) {
  const unsigned upper = blockIdx.x * blockDim.x + threadIdx.x;
  for (int which = 0; which < 4; ++which) {
    if (convert(upper * 16, which) != host[4 * upper + which]) atomicAdd(wrong, 1);
  }
  const __nv_fp8x4_e4m3 four(make_float4(1.3f, -2.7f, 1000.0f, 1e-3f));
  if (static_cast<float4>(four).z != 448.0f) atomicAdd(wrong, 1);
  const __nv_fp8x4_e4m3 of_pairs(__floats2bfloat162_rn(1.3f, -2.7f),
                                 __floats2bfloat162_rn(1000.0f, 1e-3f));
  const __nv_fp8x4_e4m3 of_doubles(make_double4(1.3, -2.7, 1000.0, 1e-3));
  if (of_pairs.__x != four.__x || of_doubles.__x != four.__x) atomicAdd(wrong, 1);
}

struct Hash {
  unsigned long long value = 1469598103934665603ull;
  long count = 0;
  void add(unsigned part) {
    value = (value ^ part) * 1099511628211ull;
    ++count;
  }
  void add_number(double number) {
    for (const auto saturation : saturations) {
      for (const auto kind : kinds) {
        add(__nv_cvt_double_to_fp8(number, saturation, kind));
        add(__nv_cvt_float_to_fp8(static_cast<float>(number), saturation, kind));
      }
    }
  }
};

int main() {
  nvtxRangePushA("conversions");
  Hash hash;
  for (unsigned i = 0; i < 65536; ++i) {
    for (const unsigned lower : {0u, 0x8000u}) {
      const unsigned bits = i << 16 | lower;
      float value;
      memcpy(&value, &bits, sizeof value);
      if (value != value) continue;
      hash.add_number(value);
      if (lower == 0) hash.add_number(value * 1.0000001);
    }
    __half_raw half;
    half.x = static_cast<unsigned short>(i);
    if ((i & 0x7FFF) > 0x7C00) continue;
    for (const auto saturation : saturations) {
      for (const auto kind : kinds) hash.add(__nv_cvt_halfraw_to_fp8(half, saturation, kind));
    }
  }
  for (unsigned i = 0; i < 256; ++i) {
    for (const auto kind : kinds) {
      hash.add(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(i), kind).x);
    }
  }
  nvtxRangePop();

  unsigned char* host;
  int* wrong;
  cudaMallocManaged(&host, 4 * 4096);
  cudaMallocManaged(&wrong, sizeof(int));
  *wrong = 0;
  for (unsigned i = 0; i < 4 * 4096; ++i) {
    host[i] = static_cast<unsigned char>(convert(i / 4 * 16, static_cast<int>(i % 4)));
  }
  compare<<<16, 256>>>(host, wrong);
  cudaDeviceSynchronize();
  printf("%ld %llx, %d wrong\n", hash.count, hash.value, *wrong);
  cudaFree(host);
  cudaFree(wrong);
}
