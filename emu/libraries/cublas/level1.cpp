// BLAS level 1, each as its definition says, with sums in double precision.

#include <cmath>
#include <utility>

#include "emu/libraries/cublas/elements.hpp"
#include "rung_emu/cublas/level1.h"

using namespace rung::emu::cublas;

namespace {

template <class T>
cublasStatus_t axpy(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y,
                    int incy) {
  return run(handle, [=, scale = Scalar(handle, alpha)](const cublasContext& context) {
    const Element<T> factor = scale.read(context);
    if (factor == Element<T>(0)) return;
    const Vector from(context, n, elements(x), incx, {.may_repeat = true});
    Vector to(context, n, elements(y), incy);
    for (std::size_t i = 0; i < to.size(); ++i) {
      if constexpr (is_complex<T>) {
        to[i] += factor * from[i];
      } else {
        to[i] = std::fma(factor, from[i], to[i]);
      }
    }
    to.store(context);
  });
}

template <class T, class R>
cublasStatus_t scal(cublasHandle_t handle, int n, const R* alpha, T* x, int incx) {
  return run(handle, [=, scale = Scalar(handle, alpha)](const cublasContext& context) {
    const Element<R> factor = scale.read(context);
    Vector to(context, n, elements(x), incx);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] *= factor;
    to.store(context);
  });
}

template <class T>
cublasStatus_t copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy) {
  return run(handle, [=](const cublasContext& context) {
    const Vector from(context, n, elements(x), incx);
    Vector to(context, n, elements(y), incy);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i];
    to.store(context);
  });
}

template <class T>
cublasStatus_t swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy) {
  return run(handle, [=](const cublasContext& context) {
    Vector one(context, n, elements(x), incx), other(context, n, elements(y), incy);
    for (std::size_t i = 0; i < one.size(); ++i) std::swap(one[i], other[i]);
    one.store(context);
    other.store(context);
  });
}

template <class T>
cublasStatus_t dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy,
                   T* result, bool conjugated) {
  return run(handle, [=](const cublasContext& context) {
    const Vector a(context, n, elements(x), incx, {.may_repeat = true});
    const Vector b(context, n, elements(y), incy, {.may_repeat = true});
    Wide<T> sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += Wide<T>(conjugate_if(conjugated, a[i])) * Wide<T>(b[i]);
    }
    write_scalar(context, elements(result), Element<T>(sum));
  });
}

template <class T, class R>
cublasStatus_t norm(cublasHandle_t handle, int n, const T* x, int incx, R* result) {
  return run(handle, [=](const cublasContext& context) {
    const Vector a(context, n, elements(x), incx);
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum = std::hypot(sum, std::abs(Wide<T>(a[i])));
    write_scalar(context, result, static_cast<R>(sum));
  });
}

/// The magnitude that BLAS compares and adds: of a complex number, |re| + |im|.
template <class E>
double magnitude(const E& value) {
  if constexpr (is_complex<E>) {
    return std::abs(double{value.real()}) + std::abs(double{value.imag()});
  } else {
    return std::abs(double{value});
  }
}

template <class T, class R>
cublasStatus_t sum_of_magnitudes(cublasHandle_t handle, int n, const T* x, int incx, R* result) {
  return run(handle, [=](const cublasContext& context) {
    const Vector a(context, n, elements(x), incx);
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += magnitude(a[i]);
    write_scalar(context, result, static_cast<R>(sum));
  });
}

/// The first place, counted from 1, of the largest or smallest magnitude; 0 without elements.
template <class T>
cublasStatus_t extreme(cublasHandle_t handle, int n, const T* x, int incx, int* result,
                       bool largest) {
  return run(handle, [=](const cublasContext& context) {
    if (n <= 0 || incx <= 0) return write_scalar(context, result, 0);
    const Vector a(context, n, elements(x), incx);
    std::size_t best = 0;
    for (std::size_t i = 1; i < a.size(); ++i) {
      const double value = magnitude(a[i]), so_far = magnitude(a[best]);
      if (largest ? value > so_far : value < so_far) best = i;
    }
    write_scalar(context, result, static_cast<int>(best) + 1);
  });
}

/// x := c x + s y, y := c y - conj(s) x.
template <class T, class R, class S>
cublasStatus_t rot(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy, const R* c,
                   const S* s) {
  return run(handle, [=, cosine = Scalar(handle, c),
                      sine = Scalar(handle, s)](const cublasContext& context) {
    const Element<R> along = cosine.read(context);
    const Element<S> across = sine.read(context);
    Vector one(context, n, elements(x), incx), other(context, n, elements(y), incy);
    for (std::size_t i = 0; i < one.size(); ++i) {
      const Element<T> before = one[i];
      one[i] = along * before + across * other[i];
      other[i] = along * other[i] - conjugate(across) * before;
    }
    one.store(context);
    other.store(context);
  });
}

/// Givens: (c, s) such that c a + s b = r, which replaces a; of real numbers, b becomes the number
/// that both can be found from.
template <class E>
void make_rotation(E& a, E& b, E& c, E& s) {
  const E scale = std::abs(a) + std::abs(b);
  E both = 0;
  if (scale == 0) {
    c = 1;
    s = 0;
  } else {
    const E r =
        std::copysign(scale * std::hypot(a / scale, b / scale), std::abs(a) > std::abs(b) ? a : b);
    c = a / r;
    s = b / r;
    both = std::abs(a) > std::abs(b) ? s : c != 0 ? 1 / c : E(1);
    a = r;
  }
  b = both;
}
template <class R>
void make_rotation(std::complex<R>& a, std::complex<R>& b, R& c, std::complex<R>& s) {
  if (std::abs(a) == 0) {
    c = 0;
    s = 1;
    a = b;
    return;
  }
  const R length = std::hypot(std::abs(a), std::abs(b));
  const std::complex<R> direction = a / std::abs(a);
  c = std::abs(a) / length;
  s = direction * std::conj(b) / length;
  a = direction * length;
}

template <class T, class R>
cublasStatus_t rotg(cublasHandle_t handle, T* a, T* b, R* c, T* s) {
  return run(handle, [=](const cublasContext& context) {
    Element<T> first = read_scalar(context, elements(a)),
               second = read_scalar(context, elements(b));
    R cosine{};
    Element<T> sine{};
    make_rotation(first, second, cosine, sine);
    write_scalar(context, elements(a), first);
    write_scalar(context, elements(b), second);
    write_scalar(context, c, cosine);
    write_scalar(context, elements(s), sine);
  });
}

/// The modified rotation's five parameters: a flag, which says which of h11, h21, h12, h22 are
/// fixed, and these.
template <class T>
struct Modified {
  T flag = 0, h11 = 0, h21 = 0, h12 = 0, h22 = 0;

  /// Writes out the elements that the flag stands for.
  void spell_out() {
    if (flag == T(-2) || flag == T(0)) h11 = h22 = 1;
    if (flag == T(-2)) h21 = h12 = 0;
    if (flag == T(1)) {
      h12 = 1;
      h21 = -1;
    }
  }
};

template <class T>
std::vector<T> read_five(const cublasContext& context, const T* from) {
  require(from != nullptr);
  if (context.pointer_mode == CUBLAS_POINTER_MODE_HOST) return {from, from + 5};
  return download(from, 5, context.stream);
}

template <class T>
cublasStatus_t rotm(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy,
                    const T* parameters) {
  return run(handle, [=](const cublasContext& context) {
    const std::vector<T> five = read_five(context, parameters);
    Modified<T> by{five[0], five[1], five[2], five[3], five[4]};
    by.spell_out();
    Vector one(context, n, x, incx), other(context, n, y, incy);
    for (std::size_t i = 0; i < one.size(); ++i) {
      const T before = one[i];
      one[i] = by.h11 * before + by.h12 * other[i];
      other[i] = by.h21 * before + by.h22 * other[i];
    }
    one.store(context);
    other.store(context);
  });
}

/// The rotation that makes the second of sqrt(d1) x1, sqrt(d2) y1 zero (Lawson et al., "Basic
/// Linear Algebra Subprograms for Fortran Usage", 1979), scaled so that d1 and d2 stay within 2^-24
/// to 2^24.
template <class T>
Modified<T> make_modified(T& d1, T& d2, T& x1, T y1) {
  constexpr T gamma = 4096, largest = gamma * gamma, smallest = 1 / largest;
  Modified<T> made;
  const auto give_up = [&] {
    d1 = d2 = x1 = 0;
    return Modified<T>{-1};
  };
  if (d1 < 0) return give_up();
  const T p2 = d2 * y1;
  if (p2 == 0) return {-2};
  const T p1 = d1 * x1, q2 = p2 * y1, q1 = p1 * x1;
  if (std::abs(q1) > std::abs(q2)) {
    made.h21 = -y1 / x1;
    made.h12 = p2 / p1;
    const T u = 1 - made.h12 * made.h21;
    if (u <= 0) return give_up();
    d1 /= u;
    d2 /= u;
    x1 *= u;
  } else {
    if (q2 < 0) return give_up();
    made.flag = 1;
    made.h11 = p1 / p2;
    made.h22 = x1 / y1;
    const T u = 1 + made.h11 * made.h22, old = d1;
    d1 = d2 / u;
    d2 = old / u;
    x1 = y1 * u;
  }
  const auto rescale = [&](T& d, T& left, T& right, T* x) {
    while (d != 0 && (std::abs(d) <= smallest || std::abs(d) >= largest)) {
      made.spell_out();
      made.flag = -1;
      const T factor = std::abs(d) <= smallest ? gamma : 1 / gamma;
      d *= factor * factor;
      if (x != nullptr) *x /= factor;
      left /= factor;
      right /= factor;
    }
  };
  rescale(d1, made.h11, made.h12, &x1);
  rescale(d2, made.h21, made.h22, nullptr);
  return made;
}

template <class T>
cublasStatus_t rotmg(cublasHandle_t handle, T* d1, T* d2, T* x1, const T* y1, T* parameters) {
  return run(handle, [=](const cublasContext& context) {
    T first = read_scalar(context, d1), second = read_scalar(context, d2);
    T x = read_scalar(context, x1);
    const Modified<T> made = make_modified(first, second, x, read_scalar(context, y1));
    write_scalar(context, d1, first);
    write_scalar(context, d2, second);
    write_scalar(context, x1, x);
    const T five[] = {made.flag, made.h11, made.h21, made.h12, made.h22};
    for (int i = 0; i < 5; ++i) write_scalar(context, parameters + i, five[i]);
  });
}

}  // namespace

extern "C" {
#define RUNG_EMU_DEFINE(name, work, parameters, arguments) \
  cublasStatus_t name parameters { return work arguments; }
RUNG_EMU_ALL_BLAS1(RUNG_EMU_DEFINE)
#undef RUNG_EMU_DEFINE
}
