// Names that programs take from the vendor's headers and from nvcc's prelude, without including
// anything, and forms that only nvcc takes.
#include <cuComplex.h>
#include <math_constants.h>

#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || !defined(__VECTOR_TYPES_H__)
#error "the guards of the vendor's headers are missing"
#endif

__global__ void rounded(const float* in, float* out) {
  out[0] = __fadd_ru(in[0], in[1]) - __fadd_rd(in[0], in[1]);
  out[1] = __fmul_ru(in[0], in[1]) - __fmul_rd(in[0], in[1]);
  out[2] = __fdiv_ru(in[0], in[1]) - __fdiv_rd(in[0], in[1]);
  out[3] = __fmaf_ru(in[0], in[1], in[0]) - __fmaf_rd(in[0], in[1], in[0]);
  out[4] = static_cast<float>(__dadd_ru(1.0, 1e-30) - 1.0 > 0);
  out[5] = static_cast<float>(__float2int_ru(2.1f) * 10 + __float2int_rd(2.9f));
}

__global__ void words(int* out) {
  out[0] = __dp4a(0x01020304, 0x01010101, 5);
  out[1] = __dp2a_lo(0x00020001, 0x0403, 0);
  out[2] = __viaddmax_s32_relu(-5, 2, -1) + __vimax3_s32(1, 9, 4);
  const int shifted = __shfl_down(static_cast<int>(threadIdx.x), 3);
  if (threadIdx.x == 0) out[3] = shifted;
  __stcs(out + 4, __ldcg(out) + __ldcs(out + 1));
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  out[5] = now != 0;
  unsigned int lanes;
  asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; vote.ballot.sync.b32 %0, p, 0xffffffff; }"
               : "=r"(lanes)
               : "r"(threadIdx.x < 4));
  out[6] = static_cast<int>(lanes);
}

__global__ void configured(int* out, float scale) { out[blockIdx.x] = static_cast<int>(scale); }

int main() {
  float *in, *out;
  int* numbers;
  cudaMallocManaged(&in, 2 * sizeof(float));
  cudaMallocManaged(&out, 6 * sizeof(float));
  cudaMallocManaged(&numbers, 8 * sizeof(int));
  in[0] = 1.0f + 0x1p-20f;
  in[1] = 1e-3f;
  // clang-format off
  rounded<< <1, 1>> >(in, out);
  // clang-format on
  cudaThreadSynchronize();
  printf("%d %d %d %d %g %g\n", out[0] > 0, out[1] > 0, out[2] > 0, out[3] > 0, out[4], out[5]);

  words<<<1, 32>>>(numbers);
  cudaDeviceSynchronize();
  printf("%d %d %d %d %d %d %d\n", numbers[0], numbers[1], numbers[2], numbers[3] > 0, numbers[4],
         numbers[5], numbers[6]);

  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(1);
  printf("%d ", cudaLaunchKernelEx(&config, configured, numbers, 4.5));
  cudaDeviceSynchronize();
  printf("%d %d\n", numbers[0], numbers[1]);

  const cuDoubleComplex product = cuCmul(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, 4));
  printf("%g %g %g %g\n", cuCreal(product), cuCimag(product), CUDART_PI, rsqrt(4.0));
  printf("%s %s\n", cudaGetErrorName(cudaErrorInvalidTexture),
         cudaGetErrorName(cudaErrorMpsConnectionFailed));
  printf("%d %d\n", time(nullptr) > 0, cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);
  cudaFree(in);
  cudaFree(out);
  cudaFree(numbers);
}
