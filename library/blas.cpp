// librung_blas: gemm and dot under their BLAS names, for programs that call BLAS.

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <utility>

#include "backends/rungs/cpu.hpp"
#include "library/canonical.hpp"
#include "rung/dot.hpp"
#include "rung/gemm.hpp"
#include "rung/threads.hpp"

#define BLAS_API extern "C" __attribute__((visibility("default")))

// The program's own error handlers, if it defines them.
extern "C" {
[[gnu::weak]] void xerbla_(const char* routine, const int* parameter, std::size_t routine_length);
[[gnu::weak]] void cblas_xerbla(int parameter, const char* routine, const char* format, ...);
// The reference CBLAS numbers the parameters of a row-major call like those of the equivalent
// column-major call; its error handler maps them back unless this is 0.
[[gnu::weak]] extern int RowMajorStrg;
}

namespace {

enum : int { row_major = 101, col_major = 102 };
enum : int { no_trans = 111, trans = 112, conj_trans = 113, conj_no_trans = 114 };

/// A column-major call, as in the Fortran interface.
template <class T>
struct GemmArguments {
  bool transpose_a, transpose_b;
  std::int64_t m, n, k;
  T alpha;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T beta;
  T* c;
  std::int64_t ldc;
};

/// The Fortran number of the first invalid parameter from M on; 0 if all are valid. As in OpenBLAS,
/// the leading dimension of a matrix without rows may be 0, because SciPy passes that.
template <class T>
int wrong_parameter(const GemmArguments<T>& g) {
  const auto too_small = [](std::int64_t ld, std::int64_t rows) { return ld < rows; };
  const auto too_large = [](std::int64_t ld, std::int64_t columns) {
    return rung::check::overflows(ld, columns, sizeof(T));
  };
  if (g.m < 0) return 3;
  if (g.n < 0) return 4;
  if (g.k < 0) return 5;
  if (too_small(g.lda, g.transpose_a ? g.k : g.m)) return 8;
  if (too_small(g.ldb, g.transpose_b ? g.n : g.k)) return 10;
  if (too_small(g.ldc, g.m)) return 13;
  if (too_large(g.lda, g.transpose_a ? g.m : g.k)) return 8;
  if (too_large(g.ldb, g.transpose_b ? g.k : g.n)) return 10;
  if (too_large(g.ldc, g.n)) return 13;
  return 0;
}

/// The Fortran number of the first null matrix that the call would access; 0 if there is no such
/// matrix.
template <class T>
int null_parameter(const GemmArguments<T>& g) {
  if (g.m == 0 || g.n == 0) return 0;
  const bool multiplies = g.k > 0 && g.alpha != T{};
  if (multiplies && g.a == nullptr) return 7;
  if (multiplies && g.b == nullptr) return 9;
  return g.c == nullptr ? 12 : 0;
}

// BLAS cannot report a lack of memory, or that C overlaps A or B. A call that fails for these
// reasons, before writing anything, is computed again by a rung that checks neither.
template <class T>
void run(const GemmArguments<T>& g) {
  const auto operand = [](bool transpose, const T* data, std::int64_t rows, std::int64_t cols,
                          std::int64_t ld) {
    return transpose ? transposed(rung::col_major(data, cols, rows, ld))
                     : rung::col_major(data, rows, cols, ld);
  };
  const auto a = operand(g.transpose_a, g.a, g.m, g.k, g.lda);
  const auto b = operand(g.transpose_b, g.b, g.k, g.n, g.ldb);
  const auto c = rung::col_major(g.c, g.m, g.n, g.ldc);
  try {
    rung::gemm(g.alpha, a, b, g.beta, c);
  } catch (const std::exception&) {
    const auto call = rung::canonical<T, T>(g.alpha, a, b, g.beta, c);
    rung::gemm_cpu_unpacked.function<T, T>()(call.problem, 1);
  }
}

/// routine: six characters, as in Fortran.
void report(const char* routine, int parameter) {
  if (xerbla_ != nullptr) return xerbla_(routine, &parameter, 6);
  std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n", routine,
               parameter);
}

void report_cblas(const char* routine, int parameter, const char* format, int value) {
  if (cblas_xerbla != nullptr) return cblas_xerbla(parameter, routine, format, value);
  std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n", parameter, routine);
}

/// Converts the number of a parameter in the column-major call to its number in the equivalent
/// row-major CBLAS call.
int row_major_number(int parameter) {
  switch (parameter) {
    case 4: return 5;  // M and N
    case 5: return 4;
    case 9: return 11;  // lda and ldb
    case 11: return 9;
    default: return parameter;
  }
}

/// Converts the number of a null matrix. The reference's handler does not check for null, so it
/// does not map these numbers back.
int row_major_number_of_null(int parameter) {
  switch (parameter) {
    case 8: return 10;  // A and B
    case 10: return 8;
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

/// R, and conj_no_trans below, are extensions of OpenBLAS: conjugation has no effect on a real
/// matrix.
bool is_letter(char letter) {
  const int upper = std::toupper(static_cast<unsigned char>(letter));
  return is_transpose(letter) || upper == 'N' || upper == 'R';
}

template <class T>
void fortran_gemm(const char* routine, char trans_a, char trans_b, GemmArguments<T> g) {
  if (!is_letter(trans_a)) return report(routine, 1);
  if (!is_letter(trans_b)) return report(routine, 2);
  g.transpose_a = is_transpose(trans_a);
  g.transpose_b = is_transpose(trans_b);
  if (const int wrong = wrong_parameter(g)) return report(routine, wrong);
  if (const int null = null_parameter(g)) return report(routine, null);
  run(g);
}

bool is_trans(int value) { return value == trans || value == conj_trans; }

bool is_known(int value) { return value == no_trans || value == conj_no_trans || is_trans(value); }

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
  if (by_rows) {  // read as column-major, the same memory is C^T = B^T A^T
    std::swap(g.transpose_a, g.transpose_b);
    std::swap(g.m, g.n);
    std::swap(g.a, g.b);
    std::swap(g.lda, g.ldb);
  }
  if (const int wrong = wrong_parameter(g)) return report_cblas(routine, wrong + 1, by_rows);
  if (const int null = null_parameter(g)) {
    return report_cblas(routine, by_rows ? row_major_number_of_null(null + 1) : null + 1, "", 0);
  }
  run(g);
}

/// Error handlers may return, so invalid calls return NaN, which cannot be mistaken for a sum.
template <class T, class Report>
T dot(std::int64_t n, const T* x, std::int64_t incx, const T* y, std::int64_t incy,
      const Report& report_parameter) {
  if (n <= 0) return T{};
  const int wrong = x == nullptr                                 ? 2
                    : y == nullptr                               ? 4
                    : rung::check::overflows(n, incx, sizeof(T)) ? 3
                    : rung::check::overflows(n, incy, sizeof(T)) ? 5
                                                                 : 0;
  if (wrong != 0) {
    report_parameter(wrong);
    return std::numeric_limits<T>::quiet_NaN();
  }
  try {
    // `fast` uses the caller's rounding mode, like BLAS.
    return rung::dot(n, x, incx, y, incy, {.mode = rung::DotMode::fast});
  } catch (const std::bad_alloc&) {  // as in run()
    return rung::dot_cpu_01_accumulators.function<T>()(rung::canonical(n, x, incx, y, incy), 1);
  }
}

template <class T>
T fortran_dot(const char* routine, std::int64_t n, const T* x, std::int64_t incx, const T* y,
              std::int64_t incy) {
  return dot(n, x, incx, y, incy, [routine](int parameter) { report(routine, parameter); });
}

template <class T>
T cblas_dot(const char* routine, std::int64_t n, const T* x, std::int64_t incx, const T* y,
            std::int64_t incy) {
  return dot(n, x, incx, y, incy,
             [routine](int parameter) { report_cblas(routine, parameter, "", 0); });
}

}  // namespace

// Exceptions must not cross these interfaces: invalid arguments are reported, and a lack of memory
// only makes a call slower.

// The functions for one type. ROUTINE_GEMM and ROUTINE_DOT are names for error messages, such as
// "SGEMM "; the other names are those of the exported functions.
#define RUNG_BLAS(T, INT, ROUTINE_GEMM, ROUTINE_DOT, GEMM, DOT, CBLAS_GEMM, CBLAS_DOT)      \
  BLAS_API void GEMM(const char* transa, const char* transb, const INT* m, const INT* n,    \
                     const INT* k, const T* alpha, const T* a, const INT* lda, const T* b,  \
                     const INT* ldb, const T* beta, T* c, const INT* ldc) noexcept {        \
    fortran_gemm<T>(ROUTINE_GEMM, *transa, *transb,                                         \
                    {false, false, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc});  \
  }                                                                                         \
  BLAS_API T DOT(const INT* n, const T* x, const INT* incx, const T* y,                     \
                 const INT* incy) noexcept {                                                \
    return fortran_dot(ROUTINE_DOT, *n, x, *incx, y, *incy);                                \
  }                                                                                         \
  BLAS_API void CBLAS_GEMM(int order, int transa, int transb, INT m, INT n, INT k, T alpha, \
                           const T* a, INT lda, const T* b, INT ldb, T beta, T* c,          \
                           INT ldc) noexcept {                                              \
    cblas_gemm<T>(#CBLAS_GEMM, order, transa, transb,                                       \
                  {false, false, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});            \
  }                                                                                         \
  BLAS_API T CBLAS_DOT(INT n, const T* x, INT incx, const T* y, INT incy) noexcept {        \
    return cblas_dot(#CBLAS_DOT, n, x, incx, y, incy);                                      \
  }

// librung exports these names without `blas` and may be loaded in the same process.
BLAS_API void rung_blas_set_num_threads(int threads) noexcept {
  rung::set_num_threads(std::max(threads, 0));
}
BLAS_API int rung_blas_get_num_threads() noexcept { return rung::get_num_threads(); }

RUNG_BLAS(float, int, "SGEMM ", "SDOT  ", sgemm_, sdot_, cblas_sgemm, cblas_sdot)
RUNG_BLAS(double, int, "DGEMM ", "DDOT  ", dgemm_, ddot_, cblas_dgemm, cblas_ddot)
// 64-bit integers, with the names of OpenBLAS, of MKL and the reference LAPACK, and of NumPy's and
// SciPy's wheels on PyPI.
RUNG_BLAS(float, std::int64_t, "SGEMM ", "SDOT  ", sgemm_64_, sdot_64_, cblas_sgemm64_,
          cblas_sdot64_)
RUNG_BLAS(double, std::int64_t, "DGEMM ", "DDOT  ", dgemm_64_, ddot_64_, cblas_dgemm64_,
          cblas_ddot64_)
RUNG_BLAS(float, std::int64_t, "SGEMM ", "SDOT  ", sgemm_64, sdot_64, cblas_sgemm_64, cblas_sdot_64)
RUNG_BLAS(double, std::int64_t, "DGEMM ", "DDOT  ", dgemm_64, ddot_64, cblas_dgemm_64,
          cblas_ddot_64)
RUNG_BLAS(float, std::int64_t, "SGEMM ", "SDOT  ", scipy_sgemm_64_, scipy_sdot_64_,
          scipy_cblas_sgemm64_, scipy_cblas_sdot64_)
RUNG_BLAS(double, std::int64_t, "DGEMM ", "DDOT  ", scipy_dgemm_64_, scipy_ddot_64_,
          scipy_cblas_dgemm64_, scipy_cblas_ddot64_)
// 32-bit integers, with the names of older SciPy wheels.
RUNG_BLAS(float, int, "SGEMM ", "SDOT  ", scipy_sgemm_, scipy_sdot_, scipy_cblas_sgemm,
          scipy_cblas_sdot)
RUNG_BLAS(double, int, "DGEMM ", "DDOT  ", scipy_dgemm_, scipy_ddot_, scipy_cblas_dgemm,
          scipy_cblas_ddot)
