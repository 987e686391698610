#pragma once
// Checks public views of grouped products and converts them to the canonical form.

#include <cstdint>
#include <limits>

#include "core/grouped.hpp"
#include "library/canonical_batch.hpp"
#include "rung/grouped.hpp"

namespace rung {

struct CanonicalGroups {
  GroupedCall grouped;
  Order a, b;           // as in CanonicalCall
  bool multiplies;      // as in CanonicalCall
  std::int64_t extent;  // rows of A, or k-steps: the upper limit of offsets
};

/// True if offsets divide a k of 0, so that they have no effect.
inline bool has_no_cut_k(const CanonicalGroups& canonical) {
  return canonical.grouped.groups.cuts_k && !canonical.multiplies;
}

/// The equivalent batch in this case, only its C matters.
inline CanonicalCall without_groups(const CanonicalGroups& canonical) {
  return {canonical.grouped.call, canonical.a, canonical.b, false};
}

namespace check {

[[noreturn]] void fail_group_shapes(const char* shapes, std::int64_t a_rows, std::int64_t a_cols,
                                    std::int64_t b_rows, std::int64_t b_cols, std::int64_t c_rows,
                                    std::int64_t c_cols);
[[noreturn]] void fail_group_pointers(const char* matrix);
[[noreturn]] void fail_group_order();
[[noreturn]] void fail_groups(const char* what, std::int64_t value);
[[noreturn]] void fail_no_offsets(std::int64_t count);

/// Checks that offsets in host memory neither decrease nor exceed the matrices.
void offsets(const GroupedCall& grouped);

template <class T>
void group_batch(const char* name, const BatchView<T>& view) {
  batch_operand(name, view);
  if (view.pointers != nullptr) fail_group_pointers(name);
}

/// Checks that all offsets fit in 32 bits.
inline void group_counts(const std::int32_t* offsets, std::int64_t count, std::int64_t tokens) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (count >= most) fail_groups("matrices", count);
  if (tokens > most) fail_groups("rows, or steps of k,", tokens);
  if (offsets == nullptr && count > 0) fail_no_offsets(count);
}

}  // namespace check

namespace detail {

/// The groups of a call. Without products, A and B are not used.
inline CanonicalGroups groups(CanonicalCall call, const std::int32_t* offsets, bool cuts_k) {
  const std::int64_t extent = cuts_k ? call.call.k : call.call.m;
  if (!call.multiplies) {
    call.call.k = 0;
    call.call.alpha = 0;  // infinity times 0 is NaN
    call.call.a = call.call.b = {nullptr, 1, 1};
  }
  return {{call.call, {offsets, cuts_k}}, call.a, call.b, call.multiplies, extent};
}

}  // namespace detail

/// Groups of rows. Throws rung::Error (Status::invalid_argument). Does not read the offsets.
template <class In, class Out>
CanonicalGroups canonical(Scalar<Out> alpha, const MatrixView<const In>& a,
                          const BatchView<const In>& b, Scalar<Out> beta, const MatrixView<Out>& c,
                          const std::int32_t* offsets) {
  check::matrix("gemm_grouped: A", a);
  check::group_batch("gemm_grouped: B", b);
  check::matrix("gemm_grouped: C", c);
  const auto& of_b = b.matrix;
  if (a.rows != c.rows || of_b.cols != c.cols || a.cols != of_b.rows) {
    check::fail_group_shapes("tokens x k, k x n and tokens x n", a.rows, a.cols, of_b.rows,
                             of_b.cols, c.rows, c.cols);
  }
  const bool is_one_run = c.rows <= 1 && (c.ld <= 1 || c.cols <= 1);  // counts as row-major, too
  if (c.order != Order::row_major && !is_one_run) check::fail_group_order();
  check::group_counts(offsets, b.count, a.rows);
  const bool writes = b.count > 0 && c.rows > 0 && c.cols > 0;
  const bool multiplies = writes && alpha != Scalar<Out>{} && a.cols > 0;
  if (writes) check::not_null("gemm_grouped: C", c);
  if (multiplies) {
    check::not_null("gemm_grouped: A", a);
    check::batch_not_null("gemm_grouped: B", b);
  }
  MatrixView<Out> by_rows = c;
  by_rows.order = Order::row_major;
  by_rows.ld = c.order == Order::row_major ? c.ld : c.cols;
  CanonicalGemm<In, Out> gemm = {.problem = {.m = c.rows,
                                             .n = c.cols,
                                             .k = a.cols,
                                             .alpha = static_cast<Scalar<Kernel<Out>>>(alpha),
                                             .a = detail::strided(a, false),
                                             .b = detail::strided(of_b, false),
                                             .beta = static_cast<Scalar<Kernel<Out>>>(beta),
                                             .c = detail::strided(by_rows, false)},
                                 .a = a.order,
                                 .b = of_b.order,
                                 .multiplies = multiplies};
  CanonicalCall call = erased(gemm);
  call.call.batch = b.count;
  call.call.b.batch_stride = b.stride;
  return detail::groups(call, offsets, false);
}

/// Groups of k, in which A^T and B have the rows of all groups. Throws rung::Error
/// (Status::invalid_argument). Does not read the offsets.
template <class In, class Out>
CanonicalGroups canonical(Scalar<Out> alpha, const MatrixView<const In>& a,
                          const MatrixView<const In>& b, Scalar<Out> beta, const BatchView<Out>& c,
                          const std::int32_t* offsets) {
  check::matrix("gemm_grouped: A", a);
  check::matrix("gemm_grouped: B", b);
  check::group_batch("gemm_grouped: C", c);
  const auto& of_c = c.matrix;
  if (a.rows != of_c.rows || b.cols != of_c.cols || a.cols != b.rows) {
    check::fail_group_shapes("m x tokens, tokens x n and m x n", a.rows, a.cols, b.rows, b.cols,
                             of_c.rows, of_c.cols);
  }
  check::group_counts(offsets, c.count, a.cols);
  const bool writes = c.count > 0 && of_c.rows > 0 && of_c.cols > 0;
  if (writes && c.count > 1 && c.stride < check::extent_of(of_c)) {
    check::fail_stride_of_c(c.stride, check::extent_of(of_c));
  }
  const bool multiplies = writes && alpha != Scalar<Out>{} && a.cols > 0;
  if (writes) check::batch_not_null("gemm_grouped: C", c);
  if (multiplies) {
    check::not_null("gemm_grouped: A", a);
    check::not_null("gemm_grouped: B", b);
  }
  CanonicalCall call = erased(canonical_form<In, Out>(alpha, a, b, beta, of_c, multiplies));
  call.call.batch = c.count;
  call.call.c.batch_stride = c.stride;
  return detail::groups(call, offsets, true);
}

}  // namespace rung
