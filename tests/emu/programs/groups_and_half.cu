// Cooperative groups, and numbers of two bytes.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void sums(int* out) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8, cg::thread_block>(block);
  const int of_warp = cg::reduce(warp, (int)block.thread_rank(), cg::plus<int>());
  const int of_eight = cg::reduce(eight, (int)block.thread_rank(), cg::greater<int>());
  int together = 0;
  if (block.thread_rank() % 3 == 0) together = cg::coalesced_threads().size();
  cg::sync(block);
  if (block.thread_rank() == 33) {
    out[0] = of_warp;
    out[1] = of_eight;
    out[2] = together;
    out[3] = warp.meta_group_rank() * 100 + eight.meta_group_rank();
  }
}

__global__ void halves(const float* in, float* out) {
  const int i = threadIdx.x;
  const half2 pair = __floats2half2_rn(in[i], 2 * in[i]);
  const half2 squares = __hfma2(pair, pair, __float2half2_rn(1.0f));
  half sum = __low2half(squares) + __high2half(squares);
  sum = sum / __float2half(2.0f);
  if (sum > __float2half(100.0f)) sum = hsqrt(sum);
  const __nv_bfloat16 b = __float2bfloat16(in[i] + 0.001f);
  out[i] = __half2float(sum) + __bfloat162float(b * b);
}

int main() {
  int host[4];
  int* out;
  cudaMalloc(&out, sizeof(host));
  sums<<<1, 64>>>(out);
  cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]);

  float values[32], results[32];
  for (int i = 0; i < 32; ++i) values[i] = i;
  float *d_in, *d_out;
  cudaMalloc(&d_in, sizeof(values));
  cudaMalloc(&d_out, sizeof(values));
  cudaMemcpy(d_in, values, sizeof(values), cudaMemcpyHostToDevice);
  halves<<<1, 32>>>(d_in, d_out);
  cudaMemcpy(results, d_out, sizeof(values), cudaMemcpyDeviceToHost);
  printf("%g %g %g\n", results[0], results[3], results[30]);
  cudaFree(out);
  cudaFree(d_in);
  cudaFree(d_out);
  const half h = __float2half(0.1f);
  printf("%g %d\n", __half2float(h + h), (int)sizeof(half2));
}
