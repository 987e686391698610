// Histograms and what else atomics are for.
#include <cstdio>
#include <vector>

__global__ void histogram(const unsigned char* text, int n, unsigned* bins) {
  __shared__ unsigned own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
    atomicAdd(&own[text[i] % 16], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

__device__ float atomic_max(float* to, float value) {
  int old = __float_as_int(*to), assumed;
  do {
    assumed = old;
    old = atomicCAS((int*)to, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}

__global__ void others(int* i, unsigned long long* l, float* f, double* d) {
  const int t = threadIdx.x;
  atomicMax(&i[0], t);
  atomicMin(&i[1], t);
  atomicOr(&i[2], 1 << (t % 8));
  atomicSub(&i[3], 1);
  atomicAdd(l, (unsigned long long)t);
  atomicAdd(d, 0.5);
  atomic_max(f, (float)t);
}

int main() {
  const int n = 5000;
  std::vector<unsigned char> text(n);
  for (int i = 0; i < n; ++i) text[i] = i * i % 251;
  unsigned expected[16] = {}, found[16];
  for (unsigned char c : text) ++expected[c % 16];
  unsigned char* d_text;
  unsigned* bins;
  cudaMalloc(&d_text, n);
  cudaMalloc(&bins, sizeof(found));
  cudaMemcpy(d_text, text.data(), n, cudaMemcpyHostToDevice);
  cudaMemset(bins, 0, sizeof(found));
  histogram<<<4, 96>>>(d_text, n, bins);
  cudaMemcpy(found, bins, sizeof(found), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 16; ++i) wrong += expected[i] != found[i];

  struct {
    int i[4];
    unsigned long long l;
    double d;
    float f;
  } host = {{0, 100, 0, 0}, 0, 0, 0}, *device;
  cudaMalloc(&device, sizeof(host));
  cudaMemcpy(device, &host, sizeof(host), cudaMemcpyHostToDevice);
  others<<<1, 64>>>(device->i, &device->l, &device->f, &device->d);
  cudaMemcpy(&host, device, sizeof(host), cudaMemcpyDeviceToHost);
  printf("%d wrong; %d %d %d %d %llu %g %g\n", wrong, host.i[0], host.i[1], host.i[2], host.i[3],
         host.l, host.d, host.f);
  cudaFree(d_text);
  cudaFree(bins);
  cudaFree(device);
}
