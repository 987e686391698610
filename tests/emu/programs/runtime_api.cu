// Common runtime API calls other than launches.
#include <cstdio>
#include <cstring>
#include <thread>

__global__ void fill(int* data, int n, int value) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) data[i] = value + i;
}

static void device() {
  int count = 0, current = -1, sms = 0;
  cudaGetDeviceCount(&count);
  cudaSetDevice(0);
  cudaGetDevice(&current);
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, current);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  printf("%d %d %s %d.%d %d %d %d %d\n", count, current, p.name, p.major, p.minor, p.warpSize,
         p.multiProcessorCount == sms, p.maxThreadsPerBlock, p.maxGridSize[1]);
  size_t free_bytes, total;
  cudaMemGetInfo(&free_bytes, &total);
  printf("%d %d\n", total == p.totalGlobalMem, free_bytes <= total);
}

static void errors() {
  printf("%s\n", cudaGetErrorString(cudaSetDevice(7)));
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  fill<<<1, 2048>>>(nullptr, 0, 0);
  printf("%s\n", cudaGetErrorString(cudaPeekAtLastError()));
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  int host = 0;
  printf("%s\n", cudaGetErrorName(cudaMemcpy(&host, &host, 4, cudaMemcpyHostToDevice)));
  void* large;
  printf("%s\n", cudaGetErrorName(cudaMalloc(&large, size_t{1} << 60)));
  cudaGetLastError();
}

static void streams() {
  const int n = 100;
  int *pinned, *data;
  cudaMallocHost(&pinned, n * sizeof(int));
  cudaMalloc(&data, n * sizeof(int));
  cudaStream_t one, two;
  cudaStreamCreate(&one);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaEvent_t filled;
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  fill<<<1, 128, 0, one>>>(data, n, 5);
  cudaEventRecord(filled, one);
  cudaStreamWaitEvent(two, filled, 0);
  cudaMemcpyAsync(pinned, data, n * sizeof(int), cudaMemcpyDeviceToHost, two);
  cudaStreamSynchronize(two);
  printf("%d %s\n", pinned[99], cudaGetErrorName(cudaEventQuery(filled)));
  cudaEventDestroy(filled);
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  cudaFree(data);
  cudaFreeHost(pinned);
}

static void memory() {
  int* managed;
  cudaMallocManaged(&managed, 10 * sizeof(int));
  fill<<<1, 32>>>(managed, 10, 100);
  cudaDeviceSynchronize();
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, managed);
  printf("%d %d\n", managed[9], attributes.type == cudaMemoryTypeManaged);
  cudaFree(managed);

  char* rows;
  size_t pitch;
  cudaMallocPitch(&rows, &pitch, 30, 4);
  cudaMemset2D(rows, pitch, 'x', 30, 4);
  char host[4][32];
  memset(host, '-', sizeof(host));
  cudaMemcpy2D(host, 32, rows, pitch, 30, 4, cudaMemcpyDeviceToHost);
  printf("%d %.32s\n", pitch >= 30, host[3]);
  cudaFree(rows);
}

static void occupancy() {
  int blocks = 0, grid = 0, block = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0);
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, fill);
  printf("%d %d %d %d\n", blocks, grid > 0, block, attributes.maxThreadsPerBlock);
}

int main() {
  device();
  errors();
  streams();
  memory();
  occupancy();
  std::thread([] {
    int* data;
    cudaMalloc(&data, 4);
    fill<<<1, 1>>>(data, 1, 7);
    int host = 0;
    cudaMemcpy(&host, data, 4, cudaMemcpyDeviceToHost);
    printf("%d\n", host);
    cudaFree(data);
  }).join();
  printf("%s\n", cudaGetErrorName(cudaDeviceReset()));
}
