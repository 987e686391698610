// C++ features of device code that a compiler translates: initializers with addresses, virtual and
// indirect calls, recursion, structs by value, jump tables, static and dynamic shared memory.
// Compiles with nvcc, and with clang without CUDA headers.

#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define THREAD static_cast<int>(__nvvm_read_ptx_sreg_tid_x())
extern "C" __device__ int vprintf(const char*, const char*);
#define MANAGED __device__
#else
#define THREAD static_cast<int>(threadIdx.x)
#define MANAGED __managed__
#include <cstdio>
#endif

struct Node {
  const char* name;
  int id;
  Node* next;
  float weight;
};
__device__ Node tail = {"tail", 2, nullptr, 1.5f};
__device__ Node head = {"head", 1, &tail, -2.5f};

__device__ int numbers[4] = {1, -2, 3};
struct __attribute__((packed)) Packed {
  char tag;
  int* third;
};
__device__ Packed packed_pointer = {'x', &numbers[2]};
__constant__ double table[2][3] = {{1, 2, 3}, {4, 5}};
__device__ float single = 1.5f;
__device__ double doubles[2] = {1.5};
MANAGED int counter = 3;

__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float thrice(float x) { return 3 * x; }
using Function = float (*)(float);
__device__ Function functions[2] = {twice, thrice};

struct Base {
  __device__ virtual int apply(int) = 0;
};
struct Add : Base {
  int k;
  __device__ int apply(int x) override { return x + k; }
};
struct Multiply : Base {
  __device__ int apply(int x) override { return x * 7; }
};

struct Large {
  int a[20];
  double d;
};
__device__ __noinline__ Large change(Large large, int i) {
  large.a[i % 20] += i;
  return large;
}

__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

template <int N>
__global__ void __launch_bounds__(N, 2) reverse(float* x) {
  __shared__ float s[N];
  s[THREAD] = x[THREAD];
  __syncthreads();
  x[THREAD] = s[N - 1 - THREAD];
}
template __global__ void reverse<128>(float*);

extern __shared__ float dynamic[];

__global__ void everything(float* __restrict__ out, const float* __restrict__ in, int n, int which,
                           Large by_value) {
  const int t = THREAD;
  dynamic[t] = t < n ? in[t] : 0;
  __syncthreads();
  float r = functions[which & 1](dynamic[t ^ 1]);
  switch (which) {
    case 0: r += 1; break;
    case 1: r *= 3; break;
    case 2: r = r * r; break;
    case 3: r = r + 9; break;
    case 4: r -= static_cast<float>(t); break;
    case 5: r = r / 3; break;
    case 6: r = r * r * r; break;
    case 7: r = r - 8; break;
  }
  Large large = change(by_value, t);
  r += static_cast<float>(large.a[3] + table[t & 1][1] + doubles[1]) + head.next->weight;
  single = r;
  Add add;
  add.k = n;
  Multiply multiply;
  Base* base = which > 3 ? static_cast<Base*>(&add) : &multiply;
  r += static_cast<float>(base->apply(t) + factorial(n) + *packed_pointer.third);
#ifdef __clang__
  struct {
    double r;
    int t;
  } arguments = {r, t};
  vprintf("%f %d\n", reinterpret_cast<char*>(&arguments));
#else
  printf("%f %d\n", r, t);
#endif
  counter = t;
  out[t] = r;
}
