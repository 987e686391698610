/* librung_blas reports a wrong argument to the program's own handlers, by its number in the call.
 * Prints errors; exits with 1 if there are any. */

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
void cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha,
                 const double* a, int lda, const double* b, int ldb, double beta, double* c,
                 int ldc);
float sdot_(const int* n, const float* x, const int* incx, const float* y, const int* incy);

static char routine[16];
static int parameter;

void xerbla_(const char* name, const int* number, size_t length) {
  memcpy(routine, name, length);
  routine[length] = '\0';
  parameter = *number;
}

void cblas_xerbla(int number, const char* name, const char* format, ...) {
  (void)format;
  strcpy(routine, name);
  parameter = number;
}

static int failures = 0;

static void expect(const char* expected_routine, int expected_parameter) {
  if (strcmp(routine, expected_routine) != 0 || parameter != expected_parameter) {
    fprintf(stderr, "%s %d was reported, %s %d expected\n", routine, parameter, expected_routine,
            expected_parameter);
    ++failures;
  }
  strcpy(routine, "");
  parameter = 0;
}

static void fortran(char transa, char transb, int m, int n, int k, int lda, int ldb, int ldc) {
  const float one = 1, a[64] = {0};
  float c[64];
  sgemm_(&transa, &transb, &m, &n, &k, &one, a, &lda, a, &ldb, &one, c, &ldc);
}

static void cblas(int order, int transa, int transb, int m, int n, int k, int lda, int ldb,
                  int ldc) {
  const double a[64] = {0};
  double c[64];
  cblas_dgemm(order, transa, transb, m, n, k, 1, a, lda, a, ldb, 0, c, ldc);
}

/* A null matrix is reported if the call would access it; nothing is written, and a sum is NaN. */
static void null_matrices(void) {
  enum { rows = 101, cols = 102, no = 111 };
  const int zero = 0, one = 1, two = 2, huge = INT_MAX;
  const float alpha = 1, nothing = 0, a[4] = {1, 2, 3, 4};
  const double d[4] = {1, 2, 3, 4};
  float c[4] = {5, 5, 5, 5};
  double e[4] = {5, 5, 5, 5};
  sgemm_("N", "N", &two, &two, &two, &alpha, NULL, &two, a, &two, &nothing, c, &two);
  expect("SGEMM ", 7);
  sgemm_("N", "N", &two, &two, &two, &alpha, a, &two, NULL, &two, &nothing, c, &two);
  expect("SGEMM ", 9);
  sgemm_("N", "N", &two, &two, &two, &alpha, a, &two, a, &two, &nothing, NULL, &two);
  expect("SGEMM ", 12);
  cblas_dgemm(cols, no, no, 2, 2, 2, 1, NULL, 2, d, 2, 0, e, 2), expect("cblas_dgemm", 8);
  cblas_dgemm(rows, no, no, 2, 2, 2, 1, NULL, 2, d, 2, 0, e, 2), expect("cblas_dgemm", 8);
  cblas_dgemm(rows, no, no, 2, 2, 2, 1, d, 2, NULL, 2, 0, e, 2), expect("cblas_dgemm", 10);
  cblas_dgemm(rows, no, no, 2, 2, 2, 1, d, 2, d, 2, 0, NULL, 2), expect("cblas_dgemm", 13);
  if (c[0] != 5 || e[0] != 5) ++failures;

  /* More bytes than the address space has. */
  sgemm_("N", "N", &two, &two, &huge, &alpha, a, &huge, a, &huge, &nothing, c, &two);
  expect("SGEMM ", 8);

  sgemm_("N", "N", &two, &two, &two, &nothing, NULL, &two, NULL, &two, &alpha, c, &two);
  sgemm_("N", "N", &zero, &two, &two, &alpha, NULL, &two, NULL, &two, &alpha, NULL, &two);
  expect("", 0);

  if (!isnan(sdot_(&two, NULL, &one, a, &one))) ++failures;
  expect("SDOT  ", 2);
  if (!isnan(sdot_(&two, a, &one, NULL, &one))) ++failures;
  expect("SDOT  ", 4);
  if (sdot_(&zero, NULL, &one, NULL, &one) != 0) ++failures;
  expect("", 0);
}

/* Arguments that OpenBLAS, unlike the reference, accepts: a leading dimension of 0 without rows,
   and "conjugated, not transposed". */
static void as_openblas(void) {
  enum { rows = 101, cols = 102, no = 111, conj_no = 114 };
  const int zero = 0, two = 2, three = 3;
  const float one = 1, twice = 2, a[4] = {1, 2, 3, 4};
  const double d[4] = {1, 2, 3, 4};
  float c[6] = {7, 7, 7, 7, 7, 7};
  double e[6] = {7, 7, 7, 7, 7, 7};
  int i;
  sgemm_("N", "N", &three, &two, &zero, &one, a, &three, a, &zero, &twice, c, &three);
  cblas_dgemm(rows, no, no, 3, 2, 0, 1, d, 0, d, 2, 2, e, 2);
  for (i = 0; i < 6; ++i) failures += c[i] != 14 || e[i] != 14;
  cblas_dgemm(cols, no, no, 0, 2, 0, 1, d, 0, d, 0, 2, e, 0);
  sgemm_("R", "n", &two, &two, &two, &one, a, &two, a, &two, &twice, c, &two);
  cblas_dgemm(cols, conj_no, no, 2, 2, 2, 1, d, 2, d, 2, 0, e, 2);
  failures += c[0] != 35 || e[0] != 7;
  expect("", 0);
}

int main(void) {
  enum { rows = 101, cols = 102, no = 111, yes = 112, conj = 113 };

  fortran('c', 'T', 2, 3, 4, 4, 3, 2), expect("", 0);
  fortran('X', 'N', 2, 3, 4, 2, 4, 2), expect("SGEMM ", 1);
  fortran('N', '/', 2, 3, 4, 2, 4, 2), expect("SGEMM ", 2);
  fortran('N', 'N', -1, -1, 4, 2, 4, 2), expect("SGEMM ", 3);
  fortran('N', 'N', 2, -1, 4, 2, 4, 2), expect("SGEMM ", 4);
  fortran('N', 'N', 2, 3, -1, 2, 4, 2), expect("SGEMM ", 5);
  fortran('N', 'N', 2, 3, 4, 1, 4, 2), expect("SGEMM ", 8);
  fortran('T', 'N', 2, 3, 4, 3, 4, 2), expect("SGEMM ", 8);
  fortran('N', 'N', 2, 3, 4, 2, 3, 2), expect("SGEMM ", 10);
  fortran('N', 'T', 2, 3, 4, 2, 2, 2), expect("SGEMM ", 10);
  fortran('N', 'N', 2, 3, 4, 2, 4, 1), expect("SGEMM ", 13);
  fortran('R', 'N', 2, 3, 4, 1, 4, 2), expect("SGEMM ", 8);

  cblas(rows, conj, no, 2, 3, 4, 2, 3, 3), expect("", 0);
  cblas(0, no, no, 2, 3, 4, 2, 4, 2), expect("cblas_dgemm", 1);
  cblas(cols, 110, no, 2, 3, 4, 2, 4, 2), expect("cblas_dgemm", 2);
  cblas(rows, no, 115, 2, 3, 4, 2, 4, 2), expect("cblas_dgemm", 3);
  cblas(cols, no, no, -2, 3, 4, 2, 4, 2), expect("cblas_dgemm", 4);
  cblas(rows, no, no, -2, 3, 4, 4, 3, 3), expect("cblas_dgemm", 4);
  cblas(rows, no, no, 2, -3, 4, 4, 3, 3), expect("cblas_dgemm", 5);
  cblas(rows, no, no, 2, 3, -4, 4, 3, 3), expect("cblas_dgemm", 6);
  cblas(cols, no, no, 2, 3, 4, 1, 4, 2), expect("cblas_dgemm", 9);
  cblas(rows, no, no, 2, 3, 4, 3, 3, 3), expect("cblas_dgemm", 9);
  cblas(rows, no, yes, 2, 3, 4, 4, 3, 3), expect("cblas_dgemm", 11);
  cblas(rows, no, no, 2, 3, 4, 4, 3, 2), expect("cblas_dgemm", 14);

  null_matrices();
  as_openblas();
  { /* A BLAS has no number for a C that overlaps A: the result is unspecified. */
    double memory[16] = {0};
    cblas_dgemm(rows, no, no, 2, 2, 2, 1, memory, 2, memory + 8, 2, 0, memory + 2, 2);
    expect("", 0);
  }
  {
    const int minus_one = -1, one = 1, zero = 0, two = 2;
    const float x[] = {3, 5};
    if (sdot_(&minus_one, x, &one, x, &one) != 0) ++failures;
    if (sdot_(&two, x, &zero, x, &minus_one) != 24) ++failures;
    expect("", 0);
  }
  return failures == 0 ? 0 : 1;
}
