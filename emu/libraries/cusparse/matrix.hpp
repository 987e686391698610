#pragma once
// Sparse and dense operands of cuSPARSE, and their elements as the CPU sees them: complex numbers in
// double precision, whatever their type is.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <vector>

#include "cusparse.h"
#include "emu/runtime/library_call.hpp"

struct cusparseContext {
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t pointer_mode = CUSPARSE_POINTER_MODE_HOST;
};

struct cusparseMatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
};

struct cusparseSpMatDescr {
  cusparseFormat_t format;
  int64_t rows, cols, nnz;
  void* outer;  // offsets of rows (CSR) or columns (CSC); indices of rows (COO)
  void* inner;  // indices of columns (CSR, COO) or rows (CSC)
  void* values;
  cusparseIndexType_t outer_type, inner_type;
  cusparseIndexBase_t base;
  cudaDataType type;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  int batches = 1;
  int64_t outer_stride = 0, inner_stride = 0;  // between batches, in elements
};

struct cusparseSpVecDescr {
  int64_t n, nnz;
  void* indices;
  void* values;
  cusparseIndexType_t index_type;
  cusparseIndexBase_t base;
  cudaDataType type;
};

struct cusparseDnVecDescr {
  int64_t n;
  void* values;
  cudaDataType type;
};

struct cusparseDnMatDescr {
  int64_t rows, cols, ld;
  void* values;
  cudaDataType type;
  cusparseOrder_t order;
  int batches = 1;
  int64_t stride = 0;  // between batches, in elements
};

namespace rung::emu::cusparse {

using Value = std::complex<double>;

/// An error after which a call cannot continue.
struct Failure {
  cusparseStatus_t status;
};

/// An element that is stored.
struct Entry {
  int64_t row, col;
  Value value;
};

struct Dense {
  int64_t rows = 0, cols = 0;
  std::vector<Value> values;  // row by row
  Value& at(int64_t row, int64_t col) { return values[static_cast<std::size_t>(row * cols + col)]; }
  const Value& at(int64_t row, int64_t col) const {
    return values[static_cast<std::size_t>(row * cols + col)];
  }
};

/// The matrix of one batch.
cusparseSpMatDescr batch_of(const cusparseSpMatDescr& matrix, int batch);
cusparseDnMatDescr batch_of(const cusparseDnMatDescr& matrix, int batch);

std::vector<Value> read_values(const cusparseContext& context, const void* from, int64_t count,
                               cudaDataType type);
void write_values(const cusparseContext& context, void* to, const std::vector<Value>& values,
                  cudaDataType type);
/// Indices from 0, whatever the base.
std::vector<int64_t> read_indices(const cusparseContext& context, const void* from, int64_t count,
                                  cusparseIndexType_t type, cusparseIndexBase_t base);
void write_indices(const cusparseContext& context, void* to, const std::vector<int64_t>& indices,
                   cusparseIndexType_t type, cusparseIndexBase_t base);
/// The call returns a result to the host, which waits for the stream.
void let_host_wait(const cusparseContext& context);
/// alpha, beta and results are in the memory that the pointer mode selects.
Value read_scalar(const cusparseContext& context, const void* scalar, cudaDataType type);

/// In the order in which they are stored.
std::vector<Entry> read_entries(const cusparseContext& context, const cusparseSpMatDescr& matrix);
/// Stores offsets, indices and values of entries, which become sorted in the matrix's order.
void write_entries(const cusparseContext& context, const cusparseSpMatDescr& matrix,
                   std::vector<Entry> entries);
/// The entries of the matrix that `op` makes of it.
void apply(cusparseOperation_t op, std::vector<Entry>& entries);

Dense read_dense(const cusparseContext& context, const cusparseDnMatDescr& matrix);
void write_dense(const cusparseContext& context, const cusparseDnMatDescr& matrix,
                 const Dense& dense);
Dense applied(cusparseOperation_t op, const Dense& dense);

/// Functions for C return a status.
template <class Call>
cusparseStatus_t guarded(const void* handle, Call&& call) {
  if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  const emu::LibraryCall library("cuSPARSE call");
  try {
    call();
    return CUSPARSE_STATUS_SUCCESS;
  } catch (const Failure& failure) {
    return failure.status;
  } catch (const std::bad_alloc&) {
    return CUSPARSE_STATUS_ALLOC_FAILED;
  } catch (const std::exception&) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
}

// False for a value that its enumeration lacks.
inline bool is_known(cusparseOperation_t op) {
  return op >= CUSPARSE_OPERATION_NON_TRANSPOSE && op <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE;
}
inline bool is_known(cusparseIndexBase_t base) {
  return base == CUSPARSE_INDEX_BASE_ZERO || base == CUSPARSE_INDEX_BASE_ONE;
}
inline bool is_known(cusparseIndexType_t type) {
  return type >= CUSPARSE_INDEX_16U && type <= CUSPARSE_INDEX_64I;
}
inline bool is_known(cusparseOrder_t order) {
  return order == CUSPARSE_ORDER_COL || order == CUSPARSE_ORDER_ROW;
}
inline bool is_known(cusparsePointerMode_t mode) {
  return mode == CUSPARSE_POINTER_MODE_HOST || mode == CUSPARSE_POINTER_MODE_DEVICE;
}
inline bool is_known(cusparseMatrixType_t type) {
  return type >= CUSPARSE_MATRIX_TYPE_GENERAL && type <= CUSPARSE_MATRIX_TYPE_TRIANGULAR;
}
inline bool is_known(cusparseFillMode_t mode) {
  return mode == CUSPARSE_FILL_MODE_LOWER || mode == CUSPARSE_FILL_MODE_UPPER;
}
inline bool is_known(cusparseDiagType_t type) {
  return type == CUSPARSE_DIAG_TYPE_NON_UNIT || type == CUSPARSE_DIAG_TYPE_UNIT;
}

template <class... Values>
void require_known(Values... values) {
  if (!(is_known(values) && ...)) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
}

template <class... Pointers>
void require(Pointers... pointers) {
  if (((pointers == nullptr) || ...)) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
}

}  // namespace rung::emu::cusparse
