/* A program that uses the BLAS interfaces; it includes rung.h only for the version. */
#include <rung/rung.h>
#include <stdio.h>

void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
float cblas_sdot(int n, const float* x, int incx, const float* y, int incy);

int main(void) {
  const double a[] = {1, 3, 2, 4}, b[] = {5, 7, 6, 8}, one = 1, zero = 0; /* column-major */
  const float x[] = {1, 2, 3, 4}, y[] = {5, 6, 7, 8};
  const int two = 2;
  double c[4];
  dgemm_("N", "n", &two, &two, &two, &one, a, &two, b, &two, &zero, c, &two);
  printf("rung %s: %g %g %g %g, %g\n", rung_version(), c[0], c[2], c[1], c[3],
         (double)cblas_sdot(4, x, 1, y, 1));
  return 0;
}
