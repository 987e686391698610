// Structures with padding are copied whole: nothing has written the padding, and nothing is wrong.
#include <cstdio>

struct Mixed {
  char letter;
  int number;
  char last;
};
struct alignas(16) Point {
  float x, y, z;
};

__global__ void make(Mixed* mixed, Point* points) {
  const int i = threadIdx.x;
  mixed[i].letter = 'a';
  mixed[i].number = i;
  mixed[i].last = 'z';
  points[i].x = points[i].y = points[i].z = i;
}

__global__ void copy(Mixed* to, const Mixed* from, Point* points, const Point* from_points) {
  __shared__ Mixed mixed[64];
  __shared__ Point shared_points[64];
  const int i = threadIdx.x;
  mixed[i] = from[i];
  shared_points[i] = from_points[i];
  __syncthreads();
  to[i] = mixed[63 - i];
  points[i] = shared_points[63 - i];
}

__global__ void in_shared_memory(Mixed* to) {
  __shared__ Mixed mixed[64];
  const int i = threadIdx.x;
  mixed[i].letter = 'b';
  mixed[i].number = 2 * i;
  mixed[i].last = 'y';
  __syncthreads();
  to[i] = mixed[63 - i];
}

int main() {
  Mixed *mixed, *copies, host;
  Point *points, *other_points, point;
  cudaMalloc(&mixed, 64 * sizeof(Mixed));
  cudaMalloc(&copies, 64 * sizeof(Mixed));
  cudaMalloc(&points, 64 * sizeof(Point));
  cudaMalloc(&other_points, 64 * sizeof(Point));
  make<<<1, 64>>>(mixed, points);
  copy<<<1, 64>>>(copies, mixed, other_points, points);
  cudaMemcpy(&host, copies + 3, sizeof(host), cudaMemcpyDeviceToHost);
  cudaMemcpy(&point, other_points + 3, sizeof(point), cudaMemcpyDeviceToHost);
  std::printf("%c%d%c %g\n", host.letter, host.number, host.last, point.z);
  in_shared_memory<<<1, 64>>>(copies);
  cudaMemcpy(&host, copies + 3, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%c%d%c\n", host.letter, host.number, host.last);
  for (void* memory : {static_cast<void*>(mixed), static_cast<void*>(copies),
                       static_cast<void*>(points), static_cast<void*>(other_points)}) {
    cudaFree(memory);
  }
}
