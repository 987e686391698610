// For the host's compiler: curand.h includes the runtime's templates, like NVIDIA's header.
#include <curand.h>

#include <cstdio>

int main() {
  float* numbers = nullptr;
  const cudaError_t error = cudaMalloc(&numbers, 8 * sizeof(float));
  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
  const curandStatus_t status = curandGenerateUniform(generator, numbers, 8);
  printf("%d %d\n", error, status);
  curandDestroyGenerator(generator);
  cudaFree(numbers);
}
