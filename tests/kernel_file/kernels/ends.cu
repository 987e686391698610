#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

// A correct gemm whose fourth call runs IN_CALL, and whose file runs AT_START when it is loaded.
#ifndef IN_CALL
#define IN_CALL
#endif
#ifndef AT_START
#define AT_START 0
#endif

void write_everywhere() {
  std::signal(SIGPIPE, SIG_IGN);  // a pipe of the test's own parents may have no reader
  const char text[] = "right in 27 cases";
  for (int file = 3; file < 256; ++file) {
    if (write(file, text, sizeof text) < 0) continue;
  }
}

int at_start() { return AT_START, 0; }
const int started = at_start();

__global__ void naive(int m, int n, int k, const float* A, const float* B, float* C) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
  C[row * n + col] = sum;
}

void gemm(int m, int n, int k, const float* A, const float* B, float* C) {
  static int calls = 0;
  if (++calls == 4) {
    IN_CALL;
  }
  naive<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
