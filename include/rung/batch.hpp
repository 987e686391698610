#pragma once
// Batches of matrix products of one shape.

#include <cstdint>
#include <type_traits>

#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/gemm.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

/// `count` matrices of one shape, leading dimension and order: those of `matrix`, which is the first
/// one. Each of the others begins `stride` elements behind the one before; with a stride of 0, which
/// A and B may have, all are the same one. Or `pointers` says where each begins, and matrix.data
/// does not matter.
template <class T>
struct BatchView {
  MatrixView<T> matrix;
  std::int64_t count;
  std::int64_t stride = 0;
  T* const* pointers = nullptr;

  /// To BatchView<const T>. A template, because nvcc warns of a class's conversion to itself.
  template <class U>
    requires(!std::is_const_v<T> && std::is_same_v<U, const T>)
  operator BatchView<U>() const {
    return {matrix, count, stride, pointers};
  }
};

/// `count` matrices, each `stride` elements behind the one before.
template <class T>
constexpr BatchView<T> strided(const MatrixView<T>& first, std::int64_t count,
                               std::int64_t stride) {
  return {first, count, stride, nullptr};
}

/// The matrices at `count` addresses, all of the shape of `matrix`, whose own address does not
/// matter.
template <class T>
constexpr BatchView<T> at_pointers(T* const* pointers, std::int64_t count,
                                   const MatrixView<T>& matrix) {
  return {matrix, count, 0, pointers};
}

/// C = alpha * A * B + beta * C for each product of a batch, as gemm() has it for one. A, B and C
/// have the same count; each may be strided or at pointers.
///
/// - The products of a batch may be computed in any order, by several threads: no C may overlap
///   another one, or any A or B.
/// - A batch of small products takes little more than their arithmetic: arguments are checked, and a
///   kernel is chosen, once for all.
///
/// Throws what gemm() throws; and rung::Error (Status::invalid_argument), before writing anything,
/// if a count or a stride is negative, the counts differ, the matrices of C overlap by their stride,
/// a batch takes more than 2^63 - 1 bytes, or an array of pointers, or one in it, is null where
/// there is work to do.
RUNG_API void gemm_batched(float alpha, const BatchView<const float>& a,
                           const BatchView<const float>& b, float beta, const BatchView<float>& c,
                           const GemmOptions& options = {});
RUNG_API void gemm_batched(double alpha, const BatchView<const double>& a,
                           const BatchView<const double>& b, double beta,
                           const BatchView<double>& c, const GemmOptions& options = {});
RUNG_API void gemm_batched(std::int32_t alpha, const BatchView<const std::int32_t>& a,
                           const BatchView<const std::int32_t>& b, std::int32_t beta,
                           const BatchView<std::int32_t>& c, const GemmOptions& options = {});
RUNG_API void gemm_batched(float alpha, const BatchView<const bfloat16>& a,
                           const BatchView<const bfloat16>& b, float beta,
                           const BatchView<float>& c, const GemmOptions& options = {});
RUNG_API void gemm_batched(float alpha, const BatchView<const float16>& a,
                           const BatchView<const float16>& b, float beta, const BatchView<float>& c,
                           const GemmOptions& options = {});
RUNG_API void gemm_batched(std::int32_t alpha, const BatchView<const std::int8_t>& a,
                           const BatchView<const std::int8_t>& b, std::int32_t beta,
                           const BatchView<std::int32_t>& c, const GemmOptions& options = {});

}  // namespace rung
