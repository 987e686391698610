// Copies of float4 and of structures like it, between memories and variables: each is one access of
// 16 bytes, whatever array it is of.

#include <cstdio>

#define VECTOR(x) (*reinterpret_cast<float4*>(&(x)))

struct __align__(16) Pair {
  double first, second;
};

__global__ void copies(float* to, float* from, Pair* pairs, int row) {
  __shared__ float odd[3];
  __shared__ float tile[4][128];
  __shared__ short halves[256];
  float four[4];
  const int at = 4 * threadIdx.x, other = 124 - at;
  if (threadIdx.x < 3) odd[threadIdx.x] = 1;
  VECTOR(tile[row][at]) = VECTOR(from[at]);
  *reinterpret_cast<uint4*>(&halves[2 * at]) = reinterpret_cast<uint4*>(from)[threadIdx.x];
  __syncthreads();
  VECTOR(four[0]) = VECTOR(tile[row][other]);
  VECTOR(tile[row + 1][at]) = make_float4(four[3], four[2], four[1], four[0] + odd[row]);
  __syncthreads();
  VECTOR(to[at]) = VECTOR(tile[row + 1][other]);
  pairs[threadIdx.x] = *reinterpret_cast<Pair*>(&halves[2 * other]);
}

int main() {
  float *from, *to;
  Pair* pairs;
  cudaMallocManaged(&from, 128 * sizeof(float));
  cudaMallocManaged(&to, 128 * sizeof(float));
  cudaMallocManaged(&pairs, 32 * sizeof(Pair));
  for (int i = 0; i < 128; ++i) from[i] = i;
  copies<<<1, 32>>>(to, from, pairs, 1);
  cudaDeviceSynchronize();
  const float* const copied = reinterpret_cast<const float*>(pairs);
  int right = 0;
  for (int i = 0; i < 128; ++i) {
    const int in_vector = i % 4, first = i - in_vector;
    right += to[i] == first + 3 - in_vector + (in_vector == 3 ? 1 : 0);
    right += copied[i] == 124 - first + in_vector;
  }
  std::printf("%d\n", right);
  cudaFree(from);
  cudaFree(to);
  cudaFree(pairs);
}
