// Functions that CUDA has since 12.8 and 12.9: built-in atomics, arithmetic on pairs of floats, memory of several devices.
#include <cuda.h>

#include <cstdio>

struct Values {
  unsigned char byte, copy;
  unsigned count, stored, before;
  float2 sum, product, fma;
};

__global__ void compute(Values* v) {
  __nv_atomic_fetch_add(&v->count, 3u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  if (threadIdx.x != 0) return;
  v->copy = __nv_atomic_load_n(&v->byte, __NV_ATOMIC_ACQUIRE);
  __nv_atomic_store_n(&v->stored, 7u, __NV_ATOMIC_RELEASE);
  v->before = __nv_atomic_exchange_n(&v->stored, 9u, __NV_ATOMIC_ACQ_REL);
  const float2 a = {2, 3}, b = {4, 5};
  v->sum = __fadd2_rn(a, b);
  v->product = __fmul2_rz(a, b);
  v->fma = __ffma2_rn(a, b, a);
}

int main() {
  Values* v;
  cudaMallocManaged(&v, sizeof(Values));
  *v = {5};
  compute<<<1, 32>>>(v);
  cudaDeviceSynchronize();
  printf("%d %u %u %u\n", v->copy, v->count, v->stored, v->before);
  printf("%g %g, %g %g, %g %g\n", v->sum.x, v->sum.y, v->product.x, v->product.y, v->fma.x,
         v->fma.y);
  int supported = -1;
  CUmemGenericAllocationHandle handle;
  const CUmulticastObjectProp properties = {};
  cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0);
  printf("%d %d\n", supported, cuMulticastCreate(&handle, &properties) == CUDA_ERROR_NOT_SUPPORTED);
  cudaFree(v);
}
