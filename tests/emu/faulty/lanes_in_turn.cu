// Lanes of a warp that take a lock in turn. The lane that has it waits at the loop's end for the lanes
// that still try, as in ptxas's code (BSSY, BSYNC).
//   lanes_in_turn spin|bucket|ticket|turn
#include <cstdio>
#include <string>

__device__ void add(int* count) {
  __threadfence();
  *(volatile int*)count += 1;
  __threadfence();
}
__global__ void spin(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  add(count);
  atomicExch(lock, 0);
}
__global__ void bucket(int* locks, int* counts) {
  __shared__ int taken[4];
  if (threadIdx.x < 4) taken[threadIdx.x] = 0;
  __syncthreads();
  const int b = threadIdx.x % 4;
  bool waits = true;
  while (waits) waits = atomicExch(&taken[b], 1) == 1;
  add(&counts[b]);
  atomicExch(&taken[b], 0);
}
__global__ void ticket(int* next, int* count) {
  const int mine = atomicAdd(next, 1);
  while (atomicAdd(next + 1, 0) != mine) {
  }
  add(count);
  atomicAdd(next + 1, 1);
}
__global__ void turn(int* now, int* count) {
  while (*(volatile int*)now != threadIdx.x) {
  }
  add(count);
  *(volatile int*)now = threadIdx.x + 1;
}
int main(int, char** arguments) {
  const std::string name = arguments[1];
  int *memory, host[8];
  cudaMalloc(&memory, sizeof host);
  cudaMemset(memory, 0, sizeof host);
  const auto kernel = name == "spin"     ? spin
                      : name == "bucket" ? bucket
                      : name == "ticket" ? ticket
                                         : turn;
  const int blocks = name == "turn" || name == "bucket" ? 1 : 2;
  kernel<<<blocks, 32>>>(memory, memory + 2);
  if (cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 0;
  std::printf("%d\n", host[2] + host[3] + host[4] + host[5]);
  cudaFree(memory);
}
