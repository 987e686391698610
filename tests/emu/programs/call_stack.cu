// Calls that cannot be inlined: recursion, function pointers and virtual functions.
#include <cstdio>

struct Weights {
  int w[6];
};

struct Shape {
  __device__ virtual int area(Weights weights) const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area(Weights weights) const override { return side * side + weights.w[1]; }
};
struct Strip : Shape {
  int length;
  __device__ explicit Strip(int l) : length(l) {}
  __device__ int area(Weights weights) const override { return weights.w[length % 6] - length; }
};

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

// Passes on a local array, so that each call needs its own.
__device__ int fold(const int* values, int depth) {
  int own[4];
  for (int i = 0; i < 4; ++i) own[i] = values[i] * 3 % 101 + depth;
  if (depth == 0) return own[0] + own[3];
  return fold(own, depth - 1) + own[depth & 3];
}

__device__ bool is_odd(int n);
__device__ __noinline__ bool is_even(int n) { return n == 0 || is_odd(n - 1); }
__device__ __noinline__ bool is_odd(int n) { return n != 0 && is_even(n - 1); }

using Function = int (*)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }
__device__ int deep(int x) { return fibonacci(x & 7) + 1000; }
__device__ Function table[3] = {twice, square, deep};
__device__ Function chosen = square;

// All lanes converge after the calls: the sum covers the whole warp.
__global__ void calls(int* out, Weights weights, Function from_host) {
  const int lane = threadIdx.x;
  const int n = lane % 11;
  int* const row = out + 8 * lane;
  row[0] = fibonacci(n);
  const int start[4] = {lane, 1, 2, 3};
  row[1] = fold(start, n);
  row[2] = is_even(n) ? 10 + is_odd(n + 1) : 20;
  row[3] = table[lane % 3](lane);
  row[4] = from_host(lane + 1);
  Shape* const shape = lane % 2 == 0 ? static_cast<Shape*>(new Square(lane)) : new Strip(lane);
  row[5] = shape->area(weights);
  delete shape;
  row[6] = __reduce_add_sync(0xFFFFFFFFu, row[0]);
  row[7] = __syncthreads_count(row[5] >= 0);
}

int fibonacci_of(int n) { return n < 2 ? n : fibonacci_of(n - 1) + fibonacci_of(n - 2); }

int fold_of(const int* values, int depth) {
  int own[4];
  for (int i = 0; i < 4; ++i) own[i] = values[i] * 3 % 101 + depth;
  return depth == 0 ? own[0] + own[3] : fold_of(own, depth - 1) + own[depth & 3];
}

int main() {
  const Weights weights = {{3, 1, 4, 1, 5, 9}};
  Function function = nullptr;
  cudaMemcpyFromSymbol(&function, chosen, sizeof(function));
  int* out = nullptr;
  cudaMallocManaged(&out, 64 * 8 * sizeof(int));
  calls<<<1, 64>>>(out, weights, function);
  const cudaError_t error = cudaDeviceSynchronize();
  int wrong = 0, sum[2] = {}, areas = 0;
  const auto area = [&](int lane) {
    return lane % 2 == 0 ? lane * lane + weights.w[1] : weights.w[lane % 6] - lane;
  };
  for (int lane = 0; lane < 64; ++lane) {
    sum[lane / 32] += fibonacci_of(lane % 11);
    areas += area(lane) >= 0;
  }
  for (int lane = 0; lane < 64; ++lane) {
    const int n = lane % 11, start[4] = {lane, 1, 2, 3};
    const int chosen_result[3] = {2 * lane, lane * lane, fibonacci_of(lane & 7) + 1000};
    const int expected[8] = {
        fibonacci_of(n),         fold_of(start, n), n % 2 == 0 ? 11 : 20, chosen_result[lane % 3],
        (lane + 1) * (lane + 1), area(lane),        sum[lane / 32],       areas};
    for (int i = 0; i < 8; ++i) wrong += out[8 * lane + i] != expected[i];
  }
  printf("%s %d wrong\n", cudaGetErrorName(error), wrong);
  cudaFree(out);
}
