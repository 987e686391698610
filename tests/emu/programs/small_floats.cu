// Less common intrinsics of half and bfloat16: directed rounding, saturation, comparisons that are
// true for NaN, masks.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

__global__ void compute(unsigned int* out) {
  const float third = 1.0f / 3.0f;
  out[0] = __half_as_ushort(__float2half_ru(third)) - __half_as_ushort(__float2half_rd(third));
  out[1] = __half_as_ushort(__float2half_rz(-third)) - __half_as_ushort(__float2half_ru(-third));
  out[2] = __bfloat16_as_ushort(__float2bfloat16_ru(third)) -
           __bfloat16_as_ushort(__float2bfloat16_rz(third));
  out[3] = __half2int_rd(__float2half(-2.5f)) * 10 + __half2int_ru(__float2half(-2.5f));
  out[4] = __half2uint_rn(__float2half(3.5f));
  // 2^24 + 1 needs 25 bits, and its half is infinite unless it is rounded to zero.
  out[5] = __half_as_ushort(__int2half_rz((1 << 24) + 1));
  out[6] = __half_as_ushort(__int2half_rn((1 << 24) + 1));
  const __half nan = CUDART_NAN_FP16, one = CUDART_ONE_FP16;
  out[7] = __heq(nan, one) * 1000 + __hequ(nan, one) * 100 + __hltu(one, one) * 10 + __hisnan(nan);
  const __half2 pair = __halves2half2(one, nan), ones = __half2half2(one);
  out[8] = __heq2_mask(pair, ones);
  out[9] = __half_as_ushort(__hadd_sat(one, one)) == __half_as_ushort(one);
  out[10] = __hisnan(__hmax_nan(one, nan)) * 10 + __hisnan(__hmax(one, nan));
  out[11] = __bfloat162int_rz(
      __hfma_relu(__float2bfloat16(-2.0f), __float2bfloat16(3.0f), __float2bfloat16(1.0f)));
}

int main() {
  unsigned int* out = nullptr;
  cudaMallocManaged(&out, 12 * sizeof(unsigned int));
  compute<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  for (int i = 0; i < 12; ++i) std::printf(i == 3 ? "%d " : i == 8 ? "%x " : "%u ", out[i]);
  std::printf("\n");
  cudaFree(out);
}
