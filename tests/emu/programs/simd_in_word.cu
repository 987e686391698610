// Operations on the parts of a word: values worked out by hand.
#include <cstdio>

__global__ void operations(unsigned* out, unsigned a, unsigned b) {
  const unsigned results[] = {
      __vadd2(a, b),      __vsub4(a, b),    __vaddss2(a, b), __vaddus4(a, b), __vsubus2(a, b),
      __vabsdiffu4(a, b), __vavgs2(a, b),   __vavgu4(a, b),  __vhaddu4(a, b), __vmaxs4(a, b),
      __vminu2(a, b),     __vabsss2(a),     __vneg4(b),      __vsadu4(a, b),  __vsads2(a, b),
      __vcmpgts4(a, b),   __vsetltu2(a, b), __vcmpeq4(a, a), __vabs4(a),      __vnegss2(a)};
  for (unsigned i = 0; i < sizeof(results) / sizeof(*results); ++i) out[i] = results[i];
}

int main() {
  constexpr int count = 20;
  unsigned* out = nullptr;
  cudaMallocManaged(&out, count * sizeof(unsigned));
  operations<<<1, 1>>>(out, 0x8000ff7fu, 0x0001027fu);
  cudaDeviceSynchronize();
  for (int i = 0; i < count; ++i) printf("%08x%c", out[i], i % 10 == 9 ? '\n' : ' ');
  cudaFree(out);
}
