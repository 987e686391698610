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

/// `count` matrices with the shape, leading dimension and order of `matrix`, which is the first
/// one. Matrix i begins i * stride elements after the first. A and B may have stride 0, which
/// repeats one matrix. If `pointers` is set, it holds the address of each matrix, and matrix.data
/// is ignored.
template <class T>
struct BatchView {
  MatrixView<T> matrix;
  std::int64_t count;
  std::int64_t stride = 0;
  T* const* pointers = nullptr;

  /// Converts to BatchView<const T>. A template, because nvcc warns about a class that converts to
  /// itself.
  template <class U>
    requires(!std::is_const_v<T> && std::is_same_v<U, const T>)
  operator BatchView<U>() const {
    return {matrix, count, stride, pointers};
  }
};

/// `count` matrices, each `stride` elements after the previous one.
template <class T>
constexpr BatchView<T> strided(const MatrixView<T>& first, std::int64_t count,
                               std::int64_t stride) {
  return {first, count, stride, nullptr};
}

/// The matrices at `count` addresses, all with the shape of `matrix`, whose own address is ignored.
template <class T>
constexpr BatchView<T> at_pointers(T* const* pointers, std::int64_t count,
                                   const MatrixView<T>& matrix) {
  return {matrix, count, 0, pointers};
}

/// Computes C = alpha * A * B + beta * C for each product of a batch, with the rules of gemm(). A,
/// B and C have the same count; each may be strided or an array of pointers.
///
/// - The products may be computed in any order and by several threads: no C may overlap another C
///   or any A or B. If matrices given by pointers overlap, the result is undefined.
/// - Arguments are checked and a kernel is chosen once for the whole batch, so the overhead for
///   each small product is negligible.
///
/// Throws what gemm() throws. Also throws rung::Error (Status::invalid_argument), before writing
/// anything, if a count or a stride is negative, the counts differ, strided C matrices overlap each
/// other or strided A or B, a batch spans more than 2^63 - 1 bytes, or an array of pointers or one
/// of its pointers is null and there is work to do.
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
