/* Without the program's own handlers, librung_blas prints a line (checked by CTest) and returns. */

#include <stdio.h>

void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);

int main(void) {
  const int two = 2, minus_one = -1;
  const double one = 1, a[4] = {0};
  double c[4] = {0};
  const float x[4] = {0};
  float z[4] = {0};
  dgemm_("N", "N", &two, &minus_one, &two, &one, a, &two, a, &two, &one, c, &two);
  cblas_sgemm(101, 111, 111, 2, 2, 2, 1, x, 1, x, 2, 0, z, 2);
  fputs("returned\n", stderr);
  return 0;
}
