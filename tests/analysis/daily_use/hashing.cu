// Integers: hashes, ciphers, number theory, random numbers.
#include "arrays.cuh"

#include <cstdint>

__constant__ unsigned round_constants[64];

__device__ unsigned rotated(unsigned x, int by) { return __funnelshift_r(x, x, by); }

__global__ void sha256_blocks(const unsigned* message, unsigned* digest, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int j = 0; j < 16; ++j) w[j] = message[j * n + i];
#pragma unroll
  for (int r = 0; r < 64; ++r) {
    if (r >= 16) {
      unsigned a = w[(r + 1) % 16], b = w[(r + 14) % 16];
      w[r % 16] += (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + w[(r + 9) % 16] +
                   (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
    }
    unsigned t1 = s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)) +
                  ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[r] + w[r % 16];
    unsigned t2 = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) +
                  ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    for (int k = 7; k > 0; --k) s[k] = s[k - 1];
    s[4] += t1, s[0] = t1 + t2;
  }
  for (int k = 0; k < 8; ++k) digest[k * n + i] = s[k];
}

__global__ void murmur_of_strings(const unsigned* words, unsigned* hash, int length, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned h = 42;
  for (int j = 0; j < length; ++j) {
    unsigned k = words[j * n + i] * 0xcc9e2d51;
    h ^= (k << 15 | k >> 17) * 0x1b873593;
    h = (h << 13 | h >> 19) * 5 + 0xe6546b64;
  }
  hash[i] = mixed(h);
}

__global__ void crc32_by_table(const unsigned char* bytes, const unsigned* table, unsigned* crc,
                               int length, int n) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned c = ~0u;
  for (int j = 0; j < length; ++j) c = s[(c ^ bytes[j * n + i]) & 255] ^ c >> 8;
  crc[i] = ~c;
}

__global__ void xorshift_bits(unsigned* out, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = i * 2654435761u + 1, sum = 0;
  for (int r = 0; r < rounds; ++r) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    sum += __popc(x);
  }
  out[i] = sum;
}

__global__ void powers_modulo(const unsigned long long* base, unsigned long long* out,
                              unsigned long long modulus, unsigned long long inverse, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long x = base[i] % modulus, y = x;
  for (int bit = 0; bit < 32; ++bit) {  // Montgomery's multiplication
    unsigned long long low = x * x, high = __umul64hi(x, x), m = low * inverse;
    unsigned long long t = high - __umul64hi(m, modulus);
    x = high < __umul64hi(m, modulus) ? t + modulus : t;
    y ^= x;
  }
  out[i] = y;
}

__global__ void collatz_lengths(int* length, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
  if (i >= n) return;
  for (unsigned x = i + 1; x != 1; ++steps) x = x & 1 ? 3 * x + 1 : x / 2;
  length[i] = steps;
}

__global__ void greatest_divisors(const int* a, const int* b, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = a[i] + 1, y = b[i] + 1;
  while (y) {
    int r = x % y;
    x = y, y = r;
  }
  out[i] = x;
}

int main() {
  const int n = 1 << 19;
  unsigned host[64];
  for (int i = 0; i < 64; ++i) host[i] = mixed(i);
  cudaMemcpyToSymbol(round_constants, host, sizeof host);
  auto* words = (unsigned*)integers(16 * n, 1u << 31);
  sha256_blocks<<<n / 2 / 256, 256>>>(words, zeros<unsigned>(4 * n), n / 2);
  murmur_of_strings<<<n / 256, 256>>>(words, zeros<unsigned>(n), 16, n);
  crc32_by_table<<<n / 2 / 256, 256>>>((unsigned char*)words, words, zeros<unsigned>(n), 64, n / 2);
  xorshift_bits<<<n / 256, 256>>>(zeros<unsigned>(n), 128);
  auto* big =
      filled<unsigned long long>(n, [](unsigned i) { return (uint64_t)mixed(i) << 31 | i; });
  powers_modulo<<<n / 256, 256>>>(big, zeros<unsigned long long>(n), 0x1fffffffffffffffull,
                                  0xdfffffffffffffffull, n);
  collatz_lengths<<<n / 4 / 256, 256>>>(zeros<int>(n), n / 4);
  greatest_divisors<<<n / 256, 256>>>(integers(n, 1 << 20), integers(n, 1000003), zeros<int>(n), n);
  return cudaDeviceSynchronize();
}
