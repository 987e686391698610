#pragma once
// The element types of BLAS, as C++ computes with them, and the scalars of calls.

#include <complex>
#include <optional>
#include <type_traits>

#include "emu/libraries/cublas/context.hpp"
#include "emu/libraries/cublas/recorded.hpp"

namespace rung::emu::cublas {

template <class T>
struct ElementOf {
  using Type = T;
  using Wide = double;
  using Real = T;
};
template <>
struct ElementOf<cuComplex> {
  using Type = std::complex<float>;
  using Wide = std::complex<double>;
  using Real = float;
};
template <>
struct ElementOf<cuDoubleComplex> {
  using Type = std::complex<double>;
  using Wide = std::complex<double>;
  using Real = double;
};
template <>
struct ElementOf<std::complex<float>> : ElementOf<cuComplex> {};
template <>
struct ElementOf<std::complex<double>> : ElementOf<cuDoubleComplex> {};

template <class T>
using Element = typename ElementOf<std::remove_const_t<T>>::Type;
/// The type in which sums of products are computed.
template <class T>
using Wide = typename ElementOf<std::remove_const_t<T>>::Wide;
template <class T>
constexpr bool is_complex = !std::is_arithmetic_v<Element<T>>;

template <class T>
Element<T>* elements(T* of) {
  return reinterpret_cast<Element<T>*>(of);
}
template <class T>
const Element<T>* elements(const T* of) {
  return reinterpret_cast<const Element<T>*>(of);
}
template <class T>
const Element<T>* const* elements(const T* const* of) {
  return reinterpret_cast<const Element<T>* const*>(of);
}
template <class T>
Element<T>* const* elements(T* const* of) {
  return reinterpret_cast<Element<T>* const*>(of);
}

/// The complex conjugate; a real number is its own.
template <class E>
E conjugate(const E& value) {
  if constexpr (is_complex<E>) {
    return std::conj(value);
  } else {
    return value;
  }
}
template <class E>
E conjugate_if(bool is_wanted, const E& value) {
  return is_wanted ? conjugate(value) : value;
}

/// alpha or beta. In host memory it is read when the call is made, which a graph may run later; in
/// device memory when the call runs.
template <class T>
class Scalar {
 public:
  Scalar(const cublasContext* context, const T* scalar) : device_(scalar) {
    const bool is_host = context == nullptr || context->pointer_mode == CUBLAS_POINTER_MODE_HOST;
    if (is_host && scalar != nullptr) host_ = *elements(scalar);
  }
  Element<T> read(const cublasContext& running) const {
    if (host_) return *host_;
    return read_scalar(running, elements(device_));
  }

 private:
  const T* device_;
  std::optional<Element<T>> host_;
};

/// Runs call(context), or has the graph run it that the handle's stream captures.
template <class Call>
cublasStatus_t run(cublasHandle_t handle, const Call& call) {
  return guarded(handle, [&] { run_or_record(*handle, call); });
}

/// The status of a call whose arguments may be wrong before it runs.
template <class Call>
cublasStatus_t caught(const Call& call) {
  try {
    return call();
  } catch (const Failure& failure) {
    return failure.status;
  }
}

}  // namespace rung::emu::cublas
