// Memory that kernels allocate, in a program that uses namespace std.
#include <cstdio>
#include <cstdlib>
using namespace std;

__global__ void add(int* sum) {
  int* const a = static_cast<int*>(malloc(2 * sizeof(int)));
  int* const b = static_cast<int*>(std::malloc(sizeof(int)));
  a[1] = 5;
  *b = 2;
  *sum = a[1] + *b;
  free(a);
  std::free(b);
}

int main() {
  int* sum;
  cudaMallocManaged(&sum, sizeof(int));
  add<<<1, 1>>>(sum);
  cudaDeviceSynchronize();
  void* const host = malloc(1);
  printf("%d\n", *sum);
  free(host);
  cudaFree(sum);
}
