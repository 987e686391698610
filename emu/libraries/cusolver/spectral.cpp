// Eigenvalues and singular values of cuSOLVER, computed on the CPU.

#include "cusolverDn.h"
#include "emu/libraries/cublas/storage.hpp"
#include "emu/libraries/cusolver/context.hpp"
#include "emu/libraries/cusolver/jacobi.hpp"

using namespace rung::emu::cusolver;
using namespace rung::emu::cublas;

struct syevjInfo {};
struct gesvdjInfo {};

namespace {

template <class E>
E to_element(const Complex& value) {
  if constexpr (is_complex<E>) {
    return E(static_cast<typename E::value_type>(value.real()),
             static_cast<typename E::value_type>(value.imag()));
  } else {
    return static_cast<E>(value.real());
  }
}

template <class E>
void store_columns(const cublasContext& context, const Square& from, std::size_t cols, E* to,
                   int ld) {
  const int rows = static_cast<int>(from.rows), count = static_cast<int>(cols);
  Stored<E> stored(context, to, rows, count, full(rows, ld));
  for (std::size_t j = 0; j < cols; ++j) {
    for (std::size_t i = 0; i < from.rows; ++i) stored.set(i, j, to_element<E>(from(i, j)));
  }
  stored.store(context);
}

template <class E>
Square to_square(const Dense<E>& from) {
  Square made(from.rows, from.cols);
  std::copy(from.values.begin(), from.values.end(), made.values.begin());
  return made;
}

template <class R>
void store_values(const cublasContext& context, const std::vector<double>& from, R* to) {
  upload(to, std::vector<R>(from.begin(), from.end()), context.stream);
}

cublasContext running(const cusolverDnContext& context) {
  cublasContext made;
  made.stream = context.stream;
  return made;
}

cusolverStatus_t workspace_size(cusolverDnHandle_t handle, int* size) {
  return workspace(handle, true, size);
}

/// Eigenvalues of `count` consecutive matrices.
template <class T, class R>
cusolverStatus_t eigenvalues(cusolverDnHandle_t handle, cusolverEigMode_t mode,
                             cublasFillMode_t part, int n, T* a, int lda, R* values, int* info,
                             int count) {
  return rung::emu::cusolver::guarded(handle, [&] {
    require_known(part);
    require(rung::emu::cusolver::is_known(mode));
    const cublasContext context = running(*handle);
    for (int i = 0; i < count; ++i) {
      auto* const matrix = elements(a) + static_cast<std::ptrdiff_t>(i) * lda * n;
      const Stored stored(context, matrix, n, n, full(n, lda));
      const Eigen found = eigen(to_square(symmetric(stored, n, part, true)));
      store_values(context, found.values, values + static_cast<std::ptrdiff_t>(i) * n);
      if (mode == CUSOLVER_EIG_MODE_VECTOR) {
        store_columns(context, found.vectors, extent(n), matrix, lda);
      }
      report(*handle, info + i, 0);
    }
  });
}

template <class T>
Singular decompose(const cublasContext& context, int m, int n, const T* a, int lda) {
  return singular_values(to_square(general(context, elements(a), lda, m, n, CUBLAS_OP_N)));
}

/// 'A': all columns of U, or rows of V^H; 'S': as many as there are values; 'N': none.
template <class T, class R>
cusolverStatus_t singular_values_of(cusolverDnHandle_t handle, signed char want_u,
                                    signed char want_v, int m, int n, T* a, int lda, R* values,
                                    T* u, int ldu, T* vt, int ldvt, int* info) {
  return rung::emu::cusolver::guarded(handle, [&] {
    if (want_u == 'O' || want_v == 'O') throw Failure{CUBLAS_STATUS_NOT_SUPPORTED};
    for (const signed char want : {want_u, want_v}) {
      require(want == 'A' || want == 'S' || want == 'N');
    }
    const cublasContext context = running(*handle);
    const Singular found = decompose(context, m, n, a, lda);
    store_values(context, found.values, values);
    const std::size_t few = found.values.size();
    if (want_u != 'N') {
      store_columns(context, found.u, want_u == 'A' ? extent(m) : few, elements(u), ldu);
    }
    if (want_v != 'N') {
      Square rows = found.v;
      rows.cols = want_v == 'A' ? extent(n) : few;
      rows.values.resize(rows.rows * rows.cols);
      store_columns(context, adjoint(rows), extent(n), elements(vt), ldvt);
    }
    report(*handle, info, 0);
  });
}

/// U and V, not V^H, of `count` consecutive matrices.
template <class T, class R>
cusolverStatus_t singular_vectors(cusolverDnHandle_t handle, cusolverEigMode_t mode, int economy,
                                  int m, int n, T* a, int lda, R* values, T* u, int ldu, T* v,
                                  int ldv, int* info, int count) {
  return rung::emu::cusolver::guarded(handle, [&] {
    require(rung::emu::cusolver::is_known(mode));
    const cublasContext context = running(*handle);
    const std::ptrdiff_t few = std::min(m, n);
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const Singular found = decompose(context, m, n, a + i * lda * n, lda);
      store_values(context, found.values, values + i * few);
      if (mode == CUSOLVER_EIG_MODE_VECTOR) {
        store_columns(context, found.u, economy ? extent(static_cast<int>(few)) : extent(m),
                      elements(u) + i * ldu * m, ldu);
        store_columns(context, found.v, economy ? extent(static_cast<int>(few)) : extent(n),
                      elements(v) + i * ldv * n, ldv);
      }
      report(*handle, info + i, 0);
    }
  });
}

template <class Info>
cusolverStatus_t create(Info** info) {
  if (info == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *info = new Info;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

#define RUNG_EMU_DEFINE(name, work, parameters, arguments) \
  cusolverStatus_t name parameters { return work arguments; }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
RUNG_EMU_ALL_SPECTRAL(RUNG_EMU_DEFINE)
#pragma GCC diagnostic pop
#undef RUNG_EMU_DEFINE

// The rotations go on until double precision is reached: there is nothing to set.
cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* info) { return create(info); }
cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info) {
  delete info;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXsyevjSetTolerance(syevjInfo_t /*info*/, double /*tolerance*/) {
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXsyevjSetMaxSweeps(syevjInfo_t /*info*/, int /*sweeps*/) {
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXsyevjSetSortEig(syevjInfo_t /*info*/, int /*is_sorted*/) {
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info) { return create(info); }
cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info) {
  delete info;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXgesvdjSetTolerance(gesvdjInfo_t /*info*/, double /*tolerance*/) {
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXgesvdjSetMaxSweeps(gesvdjInfo_t /*info*/, int /*sweeps*/) {
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXgesvdjSetSortEig(gesvdjInfo_t /*info*/, int /*is_sorted*/) {
  return CUSOLVER_STATUS_SUCCESS;
}

}  // extern "C"
