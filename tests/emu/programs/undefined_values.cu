// Undefined in C++, but with one result in nvcc's code: objects of two types at one address,
// conversions of numbers out of range, bytes read as bool, a null pointer tested after its use, a
// loop that only another thread ends, and vectors in local arrays of smaller elements.
#include <cstdio>

struct alignas(16) Part {
  unsigned short values[8];
};
struct Fragment {
  unsigned short values[16];
};

__device__ void load(Part& part, const void* from) {
  uint4& data = reinterpret_cast<uint4&>(part);
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(data.x), "=r"(data.y), "=r"(data.z), "=r"(data.w)
               : "l"(from));
}

__global__ void sums(const float* in, const unsigned short* shorts, int n) {
  float values[4];
  for (int i = 0; i < 4; ++i) values[i] = in[i];
  int* bits = reinterpret_cast<int*>(values);
  for (int i = 0; i < 4; ++i) bits[i] &= 0x7fffffff;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += values[i];
  int counts[6];
  for (int i = 0; i < 6; ++i) counts[(i + n) % 6] = i;
  Fragment fragment;
  Part* parts = reinterpret_cast<Part*>(&fragment);
  for (int i = 0; i < 2; ++i) load(parts[i], shorts + 8 * i);
  int whole = 0, counted = 0;
  for (int i = 0; i < 4 * n; ++i) whole += fragment.values[i];
  for (int i = 0; i < 4 * n; ++i) counted += counts[i % 6] * (i < 6);
  printf("%g %d %d\n", sum, whole, counted);
}

__global__ void conversions(float f, double d) {
  float zero = f - f;
  printf("%d %d %d %d %d\n", (unsigned char)f, (signed char)f, (short)(f * 100), (char)d,
         (int)(unsigned short)(d * 1000));
  printf("%d %u %lld %d %d\n", (int)(f * 1e20f), (unsigned)-f, (long long)(d * 1e30),
         (int)(zero / zero), (int)1e20f);
}

__global__ void bytes(const unsigned char* in, int* pointer) {
  const bool* flags = reinterpret_cast<const bool*>(in);
  for (int i = 0; i < 4; ++i) printf("%s ", flags[i] ? "yes" : "no");
  int value = 3;
  if (threadIdx.x == 0 && flags[1]) {
    if (pointer != nullptr) value = *pointer;
    printf("%d\n", pointer == nullptr ? value : -1);
  }
}

__global__ void handshake(volatile int* flag) {
  if (threadIdx.x == 32) *flag = 1;
  if (threadIdx.x == 0) {
    while (*flag == 0) {
    }
    printf("%d\n", *flag);
  }
}

int main() {
  const float floats[4] = {1, -2, 3, -4};
  unsigned short shorts[16];
  for (int i = 0; i < 16; ++i) shorts[i] = i;
  const unsigned char flags[4] = {0, 2, 1, 254};
  float* in;
  unsigned short* short_in;
  unsigned char* flag_in;
  int* word;
  cudaMalloc(&in, sizeof floats);
  cudaMalloc(&short_in, sizeof shorts);
  cudaMalloc(&flag_in, sizeof flags);
  cudaMalloc(&word, sizeof(int));
  cudaMemcpy(in, floats, sizeof floats, cudaMemcpyHostToDevice);
  cudaMemcpy(short_in, shorts, sizeof shorts, cudaMemcpyHostToDevice);
  cudaMemcpy(flag_in, flags, sizeof flags, cudaMemcpyHostToDevice);
  cudaMemset(word, 0, sizeof(int));
  sums<<<1, 1>>>(in, short_in, 4);
  conversions<<<1, 1>>>(300.5f, 700.7);
  bytes<<<1, 1>>>(flag_in, nullptr);
  handshake<<<1, 64>>>(word);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(in);
  cudaFree(short_in);
  cudaFree(flag_in);
  cudaFree(word);
}
