/* The probes of libblastrampoline, Julia's BLAS, before it forwards calls to a library, and the
   names with 64-bit integers that it and programs for MKL look up. Exits with 1 if an answer is
   wrong. */

#include <complex.h>
#include <stdint.h>
#include <stdio.h>

int isamax_(const int64_t* n, const float* x, const int64_t* incx);
int64_t isamax_64_(const int64_t* n, const float* x, const int64_t* incx);
float complex cdotc_(const int* n, const float complex* x, const int* incx, const float complex* y,
                     const int* incy);
double complex zdotc_64_(const int64_t* n, const double complex* x, const int64_t* incx,
                         const double complex* y, const int64_t* incy);
void dgemm_64(const char* transa, const char* transb, const int64_t* m, const int64_t* n,
              const int64_t* k, const double* alpha, const double* a, const int64_t* lda,
              const double* b, const int64_t* ldb, const double* beta, double* c,
              const int64_t* ldc);
void cblas_dgemm_64(int order, int transa, int transb, int64_t m, int64_t n, int64_t k,
                    double alpha, const double* a, int64_t lda, const double* b, int64_t ldb,
                    double beta, double* c, int64_t ldc);
float cblas_sdot_64(int64_t n, const float* x, int64_t incx, const float* y, int64_t incy);

static int failures = 0;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "wrong: %s\n", what);
  ++failures;
}

static void widths(void) {
  /* 3 as an int, negative as an int64_t (on a little-endian machine). */
  const int64_t n = (int64_t)0xffffffff00000003, one = 1, zero = 0, three = 3, minus_one = -1;
  const float x[3] = {1, -2, 2};
  expect(isamax_(&n, x, &one) == 2, "isamax_ reads 32 bits");
  expect(isamax_64_(&n, x, &one) == 0, "isamax_64_ reads 64 bits");
  expect(isamax_64_(&three, x, &one) == 2, "isamax_64_ finds the first of two");
  expect(isamax_64_(&zero, x, &one) == 0 && isamax_64_(&three, x, &minus_one) == 0,
         "isamax_64_ of nothing");
}

static void complex_results(void) {
  const int two = 2, minus_one = -1, one = 1;
  const int64_t zero = 0, five = 5, step = 1;
  const float complex x[2] = {1 + 2 * I, 3}, y[2] = {I, 1 - I};
  const double complex z[5] = {I, 2 * I, 3 * I, 4 * I, 5 * I};
  expect(cdotc_(&two, x, &one, y, &one) == 5 - 2 * I, "cdotc_");
  expect(cdotc_(&two, x, &minus_one, y, &one) == -1, "cdotc_ with a negative increment");
  expect(zdotc_64_(&five, z, &step, z, &step) == 55, "zdotc_64_");
  expect(zdotc_64_(&zero, z, &step, z, &step) == 0, "zdotc_64_ of nothing");
}

static void names_with_64(void) {
  enum { rows = 101, no = 111 };
  const int64_t two = 2;
  const double alpha = 1, beta = 0, a[4] = {1, 2, 3, 4};
  const float x[2] = {3, 4};
  double c[4], d[4];
  dgemm_64("N", "N", &two, &two, &two, &alpha, a, &two, a, &two, &beta, c, &two);
  cblas_dgemm_64(rows, no, no, 2, 2, 2, 1, a, 2, a, 2, 0, d, 2);
  expect(c[0] == 7 && c[1] == 10 && d[0] == 7 && d[1] == 10, "products of 64-bit sizes");
  expect(cblas_sdot_64(2, x, 1, x, 1) == 25, "cblas_sdot_64");
}

int main(void) {
  widths();
  complex_results();
  names_with_64();
  return failures == 0 ? 0 : 1;
}
