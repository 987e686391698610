// Names that nvcc takes without `typename` or `template`, in device and host code, and strings as operands of
// inline assembly, whose constraint is "C".
#include <cstdio>

#include "dependent_names.h"

enum class Rounding { up, down };

template <Rounding>
struct Suffix;
template <>
struct Suffix<Rounding::up> {
  static constexpr char value[] = ".rp";
};
template <>
struct Suffix<Rounding::down> {
  static constexpr char value[] = ".rm";
};

template <Rounding ROUNDING>
__device__ float third(float x) {
  float result;
  asm volatile("{ .reg .f32 %d;\n mov.f32 %d, 0f40400000;\n div%2.f32 %0, %1, %d; }"
               : "=f"(result)
               : "f"(x), "C"(Suffix<ROUNDING>::value));
  return result;
}

constexpr char operation[] = "add";

__device__ int add(int x, int y) {
  asm("%2.s32 %0, %0, %1;" : "+r"(x) : "r"(y), "C"(operation));
  return x;
}

template <class T>
__global__ void sizes(int* result) {
  result[0] = sizeof(T::tile);
  result[1] = add(T{}.of<T::tile>(), 40);
  result[2] = third<Rounding::up>(1) > third<Rounding::down>(1);
}

int main() {
  int* result;
  cudaMallocManaged(&result, 3 * sizeof(int));
  sizes<Grid><<<1, 1>>>(result);
  cudaDeviceSynchronize();
  printf("%d %d %d %d\n", result[0], result[1], result[2], size_of_tile<Grid>());
  cudaFree(result);
}
