// Instances of templates without __host__ __device__, and arrays of variable size with zeros.
#include <cstdio>

namespace work {

template <class T>
__host__ __device__ T fma2(T x) {
  return x * 2 + 1;
}
template float fma2<float>(float);

}  // namespace work

#define BOTH __host__ __device__

template <class T, int N = 3>
BOTH T add(T x) {
  return x + N;
}
extern template int add<int, 3>(int);
template int add(int);
template double work::fma2<double>(double);

template <class T>
struct Box {
  T value;
  __host__ __device__ T get() const;
};
template <class T>
__host__ __device__ T Box<T>::get() const {
  return value;
}
template float Box<float>::get() const;

/// Its array has a constant size.
template <int N>
struct Zeros {
  float values[N] = {0};
};

__global__ void compute(float* to) {
  const int n = 4;
  int zeros[n] = {0};
  *to = work::fma2(*to) + add(zeros[threadIdx.x]) + Box<float>{6}.get() + Zeros<3>().values[2];
}

int sum_of_zeros(int n, int m) {
  int seen[n] = {0};
  double table[n][m + 1] = {};
  char* names[n] = {NULL};
  const int four = 4;
  int constant[four] = {0};
  double sum = four + constant[n % four];
  for (int i = 0; i < n; ++i) sum += seen[i] + table[i][m] + (names[i] != nullptr ? 1 : 0);
  printf("%d %g %d ", seen[n - 1], table[n - 1][0], names[0] == nullptr ? 0 : 1);
  return static_cast<int>(sum);
}

int main() {
  float* to;
  cudaMallocManaged(&to, sizeof(float));
  *to = 1;
  compute<<<1, 1>>>(to);
  cudaDeviceSynchronize();
  printf("%g %g\n", *to, work::fma2(1.0));
  printf("%d\n", sum_of_zeros(1000, 7));
  cudaFree(to);
}
