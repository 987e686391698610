/* Preloaded before a BLAS: counts the calls of librung_blas's routines, and forwards them. At the
   end of the process, appends a line for each called routine to the file $RUNG_CALLS: routine,
   number of calls, and the library that received them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct routine {
  const char* name;
  void* next;
  atomic_long calls;
};

static struct routine routines[] = {{.name = "sgemm_"},      {.name = "dgemm_"},
                                    {.name = "sdot_"},       {.name = "ddot_"},
                                    {.name = "cblas_sgemm"}, {.name = "cblas_dgemm"},
                                    {.name = "cblas_sdot"},  {.name = "cblas_ddot"}};
enum { SGEMM, DGEMM, SDOT, DDOT, CBLAS_SGEMM, CBLAS_DGEMM, CBLAS_SDOT, CBLAS_DDOT, ROUTINES };

__attribute__((constructor)) static void find_next(void) {
  for (int i = 0; i < ROUTINES; ++i) routines[i].next = dlsym(RTLD_NEXT, routines[i].name);
}

__attribute__((destructor)) static void write_counts(void) {
  const char* path = getenv("RUNG_CALLS");
  FILE* file = path == NULL ? NULL : fopen(path, "a");
  if (file == NULL) return;
  for (int i = 0; i < ROUTINES; ++i) {
    Dl_info to;
    if (routines[i].calls == 0 || dladdr(routines[i].next, &to) == 0) continue;
    fprintf(file, "%s %ld %s\n", routines[i].name, routines[i].calls, to.dli_fname);
  }
  fclose(file);
}

static void* next(int routine) {
  ++routines[routine].calls;
  return routines[routine].next;
}

#define FORTRAN_GEMM(type, name, index)                                                            \
  void name(const char* ta, const char* tb, const int* m, const int* n, const int* k,              \
            const type* alpha, const type* a, const int* lda, const type* b, const int* ldb,       \
            const type* beta, type* c, const int* ldc) {                                           \
    void (*to)(const char*, const char*, const int*, const int*, const int*, const type*,          \
               const type*, const int*, const type*, const int*, const type*, type*, const int*) = \
        next(index);                                                                               \
    to(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                      \
  }
#define C_GEMM(type, name, index)                                                                \
  void name(int layout, int ta, int tb, int m, int n, int k, type alpha, const type* a, int lda, \
            const type* b, int ldb, type beta, type* c, int ldc) {                               \
    void (*to)(int, int, int, int, int, int, type, const type*, int, const type*, int, type,     \
               type*, int) = next(index);                                                        \
    to(layout, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                            \
  }
#define FORTRAN_DOT(type, name, index)                                                      \
  type name(const int* n, const type* x, const int* incx, const type* y, const int* incy) { \
    type (*to)(const int*, const type*, const int*, const type*, const int*) = next(index); \
    return to(n, x, incx, y, incy);                                                         \
  }
#define C_DOT(type, name, index)                                       \
  type name(int n, const type* x, int incx, const type* y, int incy) { \
    type (*to)(int, const type*, int, const type*, int) = next(index); \
    return to(n, x, incx, y, incy);                                    \
  }

FORTRAN_GEMM(float, sgemm_, SGEMM)
FORTRAN_GEMM(double, dgemm_, DGEMM)
FORTRAN_DOT(float, sdot_, SDOT)
FORTRAN_DOT(double, ddot_, DDOT)
C_GEMM(float, cblas_sgemm, CBLAS_SGEMM)
C_GEMM(double, cblas_dgemm, CBLAS_DGEMM)
C_DOT(float, cblas_sdot, CBLAS_SDOT)
C_DOT(double, cblas_ddot, CBLAS_DDOT)
