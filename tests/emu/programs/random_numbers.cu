// cuRAND: the bits of its generators (taken from NVIDIA's own device headers, compiled by nvcc), and
// the host's order of XORWOW: number n is the first of subsequence n.
#include <curand.h>
#include <curand_kernel.h>

#include <cstdio>

template <class State>
__global__ void draw(unsigned int* bits, float* numbers) {
  State state;
  curand_init(1234567890123ull, 5, 7, &state);
  for (int i = 0; i < 5; ++i) bits[i] = curand(&state);
  numbers[0] = curand_uniform(&state);
  numbers[1] = curand_normal(&state);
  numbers[2] = static_cast<float>(curand_uniform_double(&state));
}

__global__ void first_of(unsigned int* out, unsigned long long subsequence) {
  curandState state;
  curand_init(99, subsequence, 0, &state);
  *out = curand(&state);
}

template <class State>
void show(const char* name, unsigned int* bits, float* numbers) {
  draw<State><<<1, 1>>>(bits, numbers);
  cudaDeviceSynchronize();
  std::printf("%s %u %u %u %u %u %.6f %.4f %.6f\n", name, bits[0], bits[1], bits[2], bits[3],
              bits[4], numbers[0], numbers[1], numbers[2]);
}

int main() {
  unsigned int* bits = nullptr;
  float* numbers = nullptr;
  cudaMallocManaged(&bits, 5000 * sizeof(unsigned int));
  cudaMallocManaged(&numbers, 5000 * sizeof(float));
  show<curandStateXORWOW>("xorwow", bits, numbers);
  show<curandStatePhilox4_32_10_t>("philox", bits, numbers);
  show<curandStateMRG32k3a>("mrg32k3a", bits, numbers);

  curandGenerator_t generator;
  curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT);
  curandSetPseudoRandomGeneratorSeed(generator, 99);
  curandGenerate(generator, bits, 5000);
  cudaDeviceSynchronize();
  const unsigned int second = bits[1], last = bits[4095];
  first_of<<<1, 1>>>(bits, 1);
  first_of<<<1, 1>>>(bits + 1, 4095);
  cudaDeviceSynchronize();
  curandGenerateUniform(generator, numbers, 5000);
  cudaDeviceSynchronize();
  double sum = 0;
  for (int i = 0; i < 5000; ++i) sum += numbers[i];
  std::printf("%d %d %d\n", bits[0] == second, bits[1] == last, sum > 2400 && sum < 2600);
  curandDestroyGenerator(generator);
  cudaFree(bits);
  cudaFree(numbers);
}
