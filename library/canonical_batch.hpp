#pragma once
// Checks public views of batches and converts them to the canonical form.

#include <cstdint>

#include "library/canonical.hpp"
#include "library/check_batch.hpp"
#include "rung/batch.hpp"

namespace rung {
namespace detail {

/// One operand of the canonical problem.
template <class Pointer, class T>
AnyMatrix<Pointer> batch_operand(const BatchView<T>& view, bool transpose) {
  const auto matrix = strided(view.matrix, transpose);
  const auto* const pointers = reinterpret_cast<const Pointer*>(view.pointers);
  return {.data = matrix.data,
          .row_stride = matrix.row_stride,
          .col_stride = matrix.col_stride,
          .batch_stride = view.stride,
          .pointers = pointers};
}

}  // namespace detail

/// A batch with alpha or k of 0 is converted to one with k = 0. Throws rung::Error
/// (Status::invalid_argument). Does not check the contents of pointer arrays; see
/// check::pointers().
template <class In, class Out>
CanonicalCall canonical(Scalar<Out> alpha, const BatchView<const In>& a,
                        const BatchView<const In>& b, Scalar<Out> beta, const BatchView<Out>& c) {
  const check::Operands used = check::batch(alpha != Scalar<Out>{}, a, b, c);
  const bool transpose = c.matrix.order == Order::col_major;
  const auto& left = transpose ? b : a;
  const auto& right = transpose ? a : b;
  CanonicalCall canonical = {.call = {.dtype = dtype_of<Kernel<In>, Kernel<Out>>(),
                                      .m = transpose ? c.matrix.cols : c.matrix.rows,
                                      .n = transpose ? c.matrix.rows : c.matrix.cols,
                                      .k = a.matrix.cols,
                                      .alpha = static_cast<double>(alpha),
                                      .a = detail::batch_operand<const void*>(left, transpose),
                                      .b = detail::batch_operand<const void*>(right, transpose),
                                      .beta = static_cast<double>(beta),
                                      .c = detail::batch_operand<void*>(c, transpose),
                                      .batch = c.count},
                             .a = detail::order_of(left.matrix.order, transpose),
                             .b = detail::order_of(right.matrix.order, transpose),
                             .multiplies = used == check::Operands::all};
  if (used == check::Operands::all) return canonical;
  canonical.call.k = 0;
  canonical.call.alpha = 0;  // infinity times 0 is NaN
  canonical.call.a.pointers = canonical.call.b.pointers = nullptr;
  if (used == check::Operands::none) canonical.call.batch = 0;
  return canonical;
}

}  // namespace rung
