#include <cuda_fp16.h>

#include <cstdio>

int answer();

int main() { std::printf("%d %g\n", answer(), __half2float(__float2half(1.5f))); }
