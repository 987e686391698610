#pragma once
// complex<T> with the names of CuPy's header, by textbook formulas. exp, log, sqrt and pow have no care for overflow.

#include <cmath>

template <class T>
class complex {
 public:
  typedef T value_type;
  __host__ __device__ complex() : x_(0), y_(0) {}
  __host__ __device__ complex(T x, T y = T()) : x_(x), y_(y) {}
  template <class U>
  __host__ __device__ complex(const complex<U>& z)
      : x_(static_cast<T>(z.real())), y_(static_cast<T>(z.imag())) {}

  __host__ __device__ T real() const { return x_; }
  __host__ __device__ T imag() const { return y_; }
  __host__ __device__ void real(T x) { x_ = x; }
  __host__ __device__ void imag(T y) { y_ = y; }

  __host__ __device__ complex& operator+=(const complex& z) {
    return *this = complex(x_ + z.x_, y_ + z.y_);
  }
  __host__ __device__ complex& operator-=(const complex& z) {
    return *this = complex(x_ - z.x_, y_ - z.y_);
  }
  __host__ __device__ complex& operator*=(const complex& z) {
    return *this = complex(x_ * z.x_ - y_ * z.y_, x_ * z.y_ + y_ * z.x_);
  }
  /// By Smith's method.
  __host__ __device__ complex& operator/=(const complex& z) {
    if (::fabs(z.x_) >= ::fabs(z.y_)) {
      const T ratio = z.y_ / z.x_, below = z.x_ + z.y_ * ratio;
      return *this = complex((x_ + y_ * ratio) / below, (y_ - x_ * ratio) / below);
    }
    const T ratio = z.x_ / z.y_, below = z.x_ * ratio + z.y_;
    return *this = complex((x_ * ratio + y_) / below, (y_ * ratio - x_) / below);
  }
  __host__ __device__ friend complex operator+(complex a, const complex& b) { return a += b; }
  __host__ __device__ friend complex operator-(complex a, const complex& b) { return a -= b; }
  __host__ __device__ friend complex operator*(complex a, const complex& b) { return a *= b; }
  __host__ __device__ friend complex operator/(complex a, const complex& b) { return a /= b; }
  __host__ __device__ friend complex operator-(const complex& a) { return complex(-a.x_, -a.y_); }
  __host__ __device__ friend complex operator+(const complex& a) { return a; }
  __host__ __device__ friend bool operator==(const complex& a, const complex& b) {
    return a.x_ == b.x_ && a.y_ == b.y_;
  }
  __host__ __device__ friend bool operator!=(const complex& a, const complex& b) {
    return !(a == b);
  }

 private:
  T x_, y_;
};

template <class T>
__host__ __device__ T real(const complex<T>& z) {
  return z.real();
}
template <class T>
__host__ __device__ T imag(const complex<T>& z) {
  return z.imag();
}
template <class T>
__host__ __device__ T norm(const complex<T>& z) {
  return z.real() * z.real() + z.imag() * z.imag();
}
template <class T>
__host__ __device__ T abs(const complex<T>& z) {
  return ::hypot(z.real(), z.imag());
}
template <class T>
__host__ __device__ T arg(const complex<T>& z) {
  return ::atan2(z.imag(), z.real());
}
template <class T>
__host__ __device__ complex<T> conj(const complex<T>& z) {
  return complex<T>(z.real(), -z.imag());
}
template <class T>
__host__ __device__ complex<T> polar(T size, T angle = T()) {
  return complex<T>(size * ::cos(angle), size * ::sin(angle));
}
template <class T>
__host__ __device__ complex<T> exp(const complex<T>& z) {
  return polar<T>(::exp(z.real()), z.imag());
}
template <class T>
__host__ __device__ complex<T> log(const complex<T>& z) {
  return complex<T>(::log(abs(z)), arg(z));
}
template <class T>
__host__ __device__ complex<T> sqrt(const complex<T>& z) {
  return polar<T>(::sqrt(abs(z)), arg(z) / 2);
}
template <class T>
__host__ __device__ complex<T> pow(const complex<T>& a, const complex<T>& b) {
  return exp(b * log(a));
}
template <class T>
__host__ __device__ complex<T> pow(const complex<T>& a, T b) {
  return exp(complex<T>(b) * log(a));
}
template <class T>
__host__ __device__ complex<T> sin(const complex<T>& z) {
  return complex<T>(::sin(z.real()) * ::cosh(z.imag()), ::cos(z.real()) * ::sinh(z.imag()));
}
template <class T>
__host__ __device__ complex<T> cos(const complex<T>& z) {
  return complex<T>(::cos(z.real()) * ::cosh(z.imag()), -::sin(z.real()) * ::sinh(z.imag()));
}

namespace thrust {
using ::complex;
}
