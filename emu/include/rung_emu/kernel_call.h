#pragma once
/* What `rung check` and `rung bench` pass to a function of the user's, through a source that they
 * write (kernel_file/adapter.hpp): a problem, with operands in device memory. Matrices are
 * row-major; ld: elements from one row to the next. A dot product has n, x, y and result, a sum no
 * y. */

struct rung_emu_kernel_call {
  long long m, n, k;
  double alpha, beta;
  const void* a;
  const void* b;
  void* c;
  long long lda, ldb, ldc;
  const void* x;
  const void* y;
  long long incx, incy;
  void* result;
  void* stream; /* a cudaStream_t */
};
