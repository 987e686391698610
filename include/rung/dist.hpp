#pragma once
// Distributed matrix multiplication over the ranks of an MPI program: librung_dist. Planning needs
// no MPI.

#include <cstdint>
#include <type_traits>

#include "rung/cuda.hpp"
#include "rung/dist_plan.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/types.hpp"

namespace rung::dist {

/// A matrix over the ranks of a grid. `local` views this rank's part: local_extent(rows, ...) x
/// local_extent(cols, ...) elements, in the order of their indices; empty where it has none.
template <class T>
struct Matrix {
  Layout layout;
  MatrixView<T> local;

  /// Converts to Matrix<const T>.
  template <class U>
    requires(!std::is_const_v<T> && std::is_same_v<U, const T>)
  operator Matrix<U>() const {
    return {layout, local};
  }
};

/// The transposed matrix in the same memory.
template <class T>
Matrix<T> transposed(const Matrix<T>& matrix) {
  return {transposed(matrix.layout), rung::transposed(matrix.local)};
}

/// Computes C = alpha A B + beta C. Collective over the grid's communicator. Operands that are
/// transposed, such as transposed(a), or distributed differently from C are redistributed first; C
/// may have any layout on the grid. alpha, beta, k = 0, NaN, types and rounding errors are as in
/// rung::gemm(). Only the calling thread calls MPI. The program must initialize MPI, with
/// MPI_THREAD_FUNNELED if it is multithreaded.
///
/// Ranks first compare their arguments. If these differ, or are invalid on any rank, every rank
/// throws Error (Status::invalid_argument), and C is unchanged. Throws CommunicationError, with C
/// undefined, if another rank fails later. A std::bad_alloc on one rank becomes CommunicationError
/// on the others.
RUNG_API void gemm(const Grid& grid, float alpha, const Matrix<const float>& a,
                   const Matrix<const float>& b, float beta, const Matrix<float>& c,
                   const Options& options = {});
RUNG_API void gemm(const Grid& grid, double alpha, const Matrix<const double>& a,
                   const Matrix<const double>& b, double beta, const Matrix<double>& c,
                   const Options& options = {});
RUNG_API void gemm(const Grid& grid, float alpha, const Matrix<const bfloat16>& a,
                   const Matrix<const bfloat16>& b, float beta, const Matrix<float>& c,
                   const Options& options = {});

/// GPU version: `local` views device pointers of the calling thread's current context, as in
/// rung/cuda.hpp. Several ranks may share a GPU. The product runs after all prior work in the
/// stream, and C is complete when the call returns. Messages are staged in host memory, so any MPI
/// works. Options::threads is ignored, and Machine::memory is also limited to half of the GPU's
/// free memory. Throws what gemm() of rung/cuda.hpp throws; the other ranks then throw
/// CommunicationError.
RUNG_API void gemm(const Grid& grid, float alpha, const Matrix<const float>& a,
                   const Matrix<const float>& b, float beta, const Matrix<float>& c,
                   CudaStream stream, const Options& options = {});
RUNG_API void gemm(const Grid& grid, double alpha, const Matrix<const double>& a,
                   const Matrix<const double>& b, double beta, const Matrix<double>& c,
                   CudaStream stream, const Options& options = {});
RUNG_API void gemm(const Grid& grid, float alpha, const Matrix<const bfloat16>& a,
                   const Matrix<const bfloat16>& b, float beta, const Matrix<float>& c,
                   CudaStream stream, const Options& options = {});

}  // namespace rung::dist
