// Locks that a warp's lanes take in turn: each is taken and released in one branch of a loop.
#include <cstdio>

struct Lock {
  int taken;
  __device__ bool try_to_take() { return atomicExch(&taken, 1) == 0; }
  __device__ void release() {
    __threadfence();
    atomicExch(&taken, 0);
  }
};

__global__ void histogram(int* locks, int* bins) {
  const int bin = (blockIdx.x * blockDim.x + threadIdx.x) % 5;
  bool done = false;
  while (!done) {
    if (atomicCAS(&locks[bin], 0, 1) == 0) {
      *(volatile int*)&bins[bin] += 1;
      __threadfence();
      atomicExch(&locks[bin], 0);
      done = true;
    }
  }
}

struct Node {
  Node* next;
};

__global__ void insert(Lock* lock, Node* nodes, Node* volatile* head) {
  Node* node = &nodes[blockIdx.x * blockDim.x + threadIdx.x];
  bool waits = true;
  do {
    if (lock->try_to_take()) {
      node->next = *head;
      *head = node;
      lock->release();
      waits = false;
    }
  } while (waits);
}

__global__ void lock_of_block(volatile int* sums) {
  __shared__ unsigned lock;
  if (threadIdx.x == 0) lock = 0;
  __syncthreads();
  for (bool left = false; !left;) {
    if (!(atomicOr(&lock, 1u) & 1)) {
      sums[blockIdx.x] = sums[blockIdx.x] + 1;
      __threadfence_block();
      atomicAnd(&lock, 0u);
      left = true;
    }
  }
}

int main() {
  constexpr int threads = 4 * 64;
  int *memory, host[16], sum = 0, length = 0;
  Node *nodes, list[threads], *head;
  cudaMalloc(&memory, sizeof host);
  cudaMalloc(&nodes, sizeof list);
  cudaMemset(memory, 0, sizeof host);
  cudaMemset(nodes, 0, sizeof list);
  histogram<<<4, 64>>>(memory, memory + 5);
  insert<<<4, 64>>>((Lock*)(memory + 10), nodes, (Node**)(memory + 12));
  lock_of_block<<<2, 64>>>(memory + 14);
  cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(list, nodes, sizeof list, cudaMemcpyDeviceToHost);
  for (int bin = 0; bin < 5; ++bin) sum += host[5 + bin];
  for (head = *(Node**)(host + 12); head != nullptr; head = list[head - nodes].next) ++length;
  printf("%d %d %d\n", sum, length, host[14] + host[15]);
  cudaFree(memory);
  cudaFree(nodes);
}
