// librung_blas: gemm and dot under their BLAS names, for programs that call BLAS.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "rung/dot.hpp"
#include "rung/gemm.hpp"

#define BLAS_API extern "C" __attribute__((visibility("default")))

// The program's own error handlers, if it defines any.
extern "C" {
[[gnu::weak]] void xerbla_(const char* routine, const int* parameter, std::size_t routine_length);
[[gnu::weak]] void cblas_xerbla(int parameter, const char* routine, const char* format, ...);
// The reference CBLAS numbers the parameters of a row-major call as those of the equivalent
// column-major call; its error handler maps them back unless this is 0.
[[gnu::weak]] extern int RowMajorStrg;
}

namespace {

enum : int { row_major = 101, col_major = 102 };
enum : int { no_trans = 111, trans = 112, conj_trans = 113 };

/// A column-major call, as in the Fortran interface.
template <class T>
struct GemmArguments {
  bool transpose_a, transpose_b;
  int m, n, k;
  T alpha;
  const T* a;
  int lda;
  const T* b;
  int ldb;
  T beta;
  T* c;
  int ldc;
};

/// The Fortran number of the first invalid parameter from M on; 0 if there is none.
template <class T>
int wrong_parameter(const GemmArguments<T>& g) {
  const auto too_small = [](int ld, int rows) { return ld < std::max(1, rows); };
  if (g.m < 0) return 3;
  if (g.n < 0) return 4;
  if (g.k < 0) return 5;
  if (too_small(g.lda, g.transpose_a ? g.k : g.m)) return 8;
  if (too_small(g.ldb, g.transpose_b ? g.n : g.k)) return 10;
  if (too_small(g.ldc, g.m)) return 13;
  return 0;
}

template <class T>
void run(const GemmArguments<T>& g) {
  const auto operand = [](bool transpose, const T* data, int rows, int cols, int ld) {
    return transpose ? transposed(rung::col_major(data, cols, rows, ld))
                     : rung::col_major(data, rows, cols, ld);
  };
  rung::gemm(g.alpha, operand(g.transpose_a, g.a, g.m, g.k, g.lda),
             operand(g.transpose_b, g.b, g.k, g.n, g.ldb), g.beta,
             rung::col_major(g.c, g.m, g.n, g.ldc));
}

/// routine: six characters, as Fortran passes them.
void report(const char* routine, int parameter) {
  if (xerbla_ != nullptr) return xerbla_(routine, &parameter, 6);
  std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n", routine,
               parameter);
}

void report_cblas(const char* routine, int parameter, const char* format, int value) {
  if (cblas_xerbla != nullptr) return cblas_xerbla(parameter, routine, format, value);
  std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n", parameter, routine);
}

/// The number in a row-major CBLAS call of the parameter with this number in the equivalent
/// column-major call.
int row_major_number(int parameter) {
  switch (parameter) {
    case 4: return 5;  // M and N
    case 5: return 4;
    case 9: return 11;  // lda and ldb
    case 11: return 9;
    default: return parameter;
  }
}

void report_cblas(const char* routine, int parameter, bool by_rows) {
  if (&RowMajorStrg != nullptr) {
    RowMajorStrg = by_rows ? 1 : 0;
  } else if (by_rows) {
    parameter = row_major_number(parameter);
  }
  report_cblas(routine, parameter, "", 0);
}

bool is_transpose(char letter) {
  const int upper = std::toupper(static_cast<unsigned char>(letter));
  return upper == 'T' || upper == 'C';
}

bool is_letter(char letter) {
  return is_transpose(letter) || std::toupper(static_cast<unsigned char>(letter)) == 'N';
}

template <class T>
void fortran_gemm(const char* routine, char trans_a, char trans_b, GemmArguments<T> g) {
  if (!is_letter(trans_a)) return report(routine, 1);
  if (!is_letter(trans_b)) return report(routine, 2);
  g.transpose_a = is_transpose(trans_a);
  g.transpose_b = is_transpose(trans_b);
  if (const int wrong = wrong_parameter(g)) return report(routine, wrong);
  run(g);
}

bool is_trans(int value) { return value == trans || value == conj_trans; }

bool is_known(int value) { return value == no_trans || is_trans(value); }

template <class T>
void cblas_gemm(const char* routine, int order, int trans_a, int trans_b, GemmArguments<T> g) {
  const bool by_rows = order == row_major;
  if (!by_rows && order != col_major) {
    return report_cblas(routine, 1, "Illegal Order setting, %d\n", order);
  }
  if (!is_known(trans_a)) return report_cblas(routine, 2, "Illegal TransA setting, %d\n", trans_a);
  if (!is_known(trans_b)) return report_cblas(routine, 3, "Illegal TransB setting, %d\n", trans_b);
  g.transpose_a = is_trans(trans_a);
  g.transpose_b = is_trans(trans_b);
  if (by_rows) {  // read by columns, the same memory is C^T = B^T A^T
    std::swap(g.transpose_a, g.transpose_b);
    std::swap(g.m, g.n);
    std::swap(g.a, g.b);
    std::swap(g.lda, g.ldb);
  }
  if (const int wrong = wrong_parameter(g)) return report_cblas(routine, wrong + 1, by_rows);
  run(g);
}

template <class T>
T dot(int n, const T* x, int incx, const T* y, int incy) {
  return n > 0 ? rung::dot(n, x, incx, y, incy) : T{};
}

}  // namespace

// The library's exceptions cannot cross these interfaces, so they terminate the program with their
// message.

BLAS_API void sgemm_(const char* transa, const char* transb, const int* m, const int* n,
                     const int* k, const float* alpha, const float* a, const int* lda,
                     const float* b, const int* ldb, const float* beta, float* c,
                     const int* ldc) noexcept {
  fortran_gemm<float>("SGEMM ", *transa, *transb,
                      {false, false, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc});
}

BLAS_API void dgemm_(const char* transa, const char* transb, const int* m, const int* n,
                     const int* k, const double* alpha, const double* a, const int* lda,
                     const double* b, const int* ldb, const double* beta, double* c,
                     const int* ldc) noexcept {
  fortran_gemm<double>("DGEMM ", *transa, *transb,
                       {false, false, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc});
}

BLAS_API float sdot_(const int* n, const float* x, const int* incx, const float* y,
                     const int* incy) noexcept {
  return dot(*n, x, *incx, y, *incy);
}

BLAS_API double ddot_(const int* n, const double* x, const int* incx, const double* y,
                      const int* incy) noexcept {
  return dot(*n, x, *incx, y, *incy);
}

BLAS_API void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha,
                          const float* a, int lda, const float* b, int ldb, float beta, float* c,
                          int ldc) noexcept {
  cblas_gemm<float>("cblas_sgemm", order, transa, transb,
                    {false, false, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}

BLAS_API void cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha,
                          const double* a, int lda, const double* b, int ldb, double beta,
                          double* c, int ldc) noexcept {
  cblas_gemm<double>("cblas_dgemm", order, transa, transb,
                     {false, false, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}

BLAS_API float cblas_sdot(int n, const float* x, int incx, const float* y, int incy) noexcept {
  return dot(n, x, incx, y, incy);
}

BLAS_API double cblas_ddot(int n, const double* x, int incx, const double* y, int incy) noexcept {
  return dot(n, x, incx, y, incy);
}
