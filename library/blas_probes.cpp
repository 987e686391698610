// Functions of librung_blas that libblastrampoline, Julia's BLAS, calls before it forwards routines
// to a library: isamax reveals the width of integers; cdotc and zdotc reveal how complex results
// are returned (its src/autodetection.c).

#include <cmath>
#include <complex>
#include <cstdint>

#define BLAS_API extern "C" __attribute__((visibility("default")))

namespace {

/// The first element of a vector with an increment. For a negative increment it is the last one in
/// memory.
template <class T>
const T* first(std::int64_t n, const T* x, std::int64_t increment) {
  return increment < 0 ? x - (n - 1) * increment : x;
}

/// The one-based index of the first element with the largest magnitude; 0 for n < 1 or increment <
/// 1, as in the reference BLAS.
template <class Int>
Int isamax(Int n, const float* x, Int increment) {
  if (n < 1 || increment < 1) return 0;
  Int largest = 0;
  for (Int i = 1; i < n; ++i) {
    if (std::fabs(x[std::int64_t{i} * increment]) >
        std::fabs(x[std::int64_t{largest} * increment])) {
      largest = i;
    }
  }
  return largest + 1;
}

/// conj(x) . y for n elements; 0 for n < 1.
template <class T>
std::complex<T> dotc(std::int64_t n, const std::complex<T>* x, std::int64_t incx,
                     const std::complex<T>* y, std::int64_t incy) {
  if (n < 1) return 0;
  x = first(n, x, incx);
  y = first(n, y, incy);
  constexpr int chains = 4;  // independent chains of additions, to hide their latency
  T real[chains] = {};
  T imaginary[chains] = {};
  for (std::int64_t i = 0; i < n; ++i) {
    const std::complex<T> a = x[i * incx];
    const std::complex<T> b = y[i * incy];
    real[i % chains] += a.real() * b.real() + a.imag() * b.imag();
    imaginary[i % chains] += a.real() * b.imag() - a.imag() * b.real();
  }
  return {(real[0] + real[1]) + (real[2] + real[3]),
          (imaginary[0] + imaginary[1]) + (imaginary[2] + imaginary[3])};
}

}  // namespace

// std::complex is returned like the complex types of C and Fortran.
#define RUNG_BLAS_PROBES(INT, ISAMAX, CDOTC, ZDOTC)                                               \
  BLAS_API INT ISAMAX(const INT* n, const float* x, const INT* incx) noexcept {                   \
    return isamax(*n, x, *incx);                                                                  \
  }                                                                                               \
  BLAS_API std::complex<float> CDOTC(const INT* n, const std::complex<float>* x, const INT* incx, \
                                     const std::complex<float>* y, const INT* incy) noexcept {    \
    return dotc(*n, x, *incx, y, *incy);                                                          \
  }                                                                                               \
  BLAS_API std::complex<double> ZDOTC(const INT* n, const std::complex<double>* x,                \
                                      const INT* incx, const std::complex<double>* y,             \
                                      const INT* incy) noexcept {                                 \
    return dotc(*n, x, *incx, y, *incy);                                                          \
  }

RUNG_BLAS_PROBES(int, isamax_, cdotc_, zdotc_)
RUNG_BLAS_PROBES(std::int64_t, isamax_64_, cdotc_64_, zdotc_64_)
