#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

int answer();

int main() {
  // For these the C++ compiler may have no types.
  const __half third = __float2half(1.0f / 3), sum = third + third;
  const __nv_bfloat16 large = __float2bfloat16(1e38f);
  std::printf("%d %a %a\n", answer(), __half2float(sum), __bfloat162float(large * large));
}
