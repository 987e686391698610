// The handle, and descriptors of operands.

#include <array>

#include "emu/libraries/cusparse/matrix.hpp"
#include "emu/libraries/status_name.hpp"

using namespace rung::emu::cusparse;

namespace {

// False if a field has a value that its enumeration lacks.
bool are_known(const cusparseSpMatDescr& matrix) {
  return is_known(matrix.outer_type) && is_known(matrix.inner_type) && is_known(matrix.base);
}
bool are_known(const cusparseSpVecDescr& vector) {
  return is_known(vector.index_type) && is_known(vector.base);
}
bool are_known(const cusparseDnMatDescr& matrix) { return is_known(matrix.order); }
template <class Descriptor>
bool are_known(const Descriptor& /*without such fields*/) {
  return true;
}

template <class Descriptor>
cusparseStatus_t create(Descriptor** made, const Descriptor& fields) {
  if (made == nullptr || !are_known(fields)) return CUSPARSE_STATUS_INVALID_VALUE;
  *made = new (std::nothrow) Descriptor(fields);
  return *made == nullptr ? CUSPARSE_STATUS_ALLOC_FAILED : CUSPARSE_STATUS_SUCCESS;
}

template <class Descriptor>
cusparseStatus_t destroy(const Descriptor* descriptor) {
  delete descriptor;
  return descriptor == nullptr ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_SUCCESS;
}

void* writable(const void* pointer) { return const_cast<void*>(pointer); }

}  // namespace

extern "C" {

const char* cusparseGetErrorName(cusparseStatus_t status) {
  constexpr std::array names = {"CUSPARSE_STATUS_SUCCESS",
                                "CUSPARSE_STATUS_NOT_INITIALIZED",
                                "CUSPARSE_STATUS_ALLOC_FAILED",
                                "CUSPARSE_STATUS_INVALID_VALUE",
                                "CUSPARSE_STATUS_ARCH_MISMATCH",
                                "CUSPARSE_STATUS_MAPPING_ERROR",
                                "CUSPARSE_STATUS_EXECUTION_FAILED",
                                "CUSPARSE_STATUS_INTERNAL_ERROR",
                                "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                "CUSPARSE_STATUS_ZERO_PIVOT",
                                "CUSPARSE_STATUS_NOT_SUPPORTED",
                                "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"};
  return rung::emu::status_name(names, status, "unknown status");
}
const char* cusparseGetErrorString(cusparseStatus_t status) { return cusparseGetErrorName(status); }

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  return create(handle, cusparseContext{});
}
cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) { return destroy(handle); }
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) {
  return guarded(handle, [&] {
    require(version);
    *version = CUSPARSE_VERSION;
  });
}
cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  return guarded(handle, [&] { handle->stream = stream; });
}
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
  return guarded(handle, [&] {
    require(stream);
    *stream = handle->stream;
  });
}
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
  return guarded(handle, [&] {
    require_known(mode);
    handle->pointer_mode = mode;
  });
}
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) {
  return guarded(handle, [&] {
    require(mode);
    *mode = handle->pointer_mode;
  });
}

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* matrix) {
  return create(matrix, cusparseMatDescr{});
}
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t matrix) { return destroy(matrix); }
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t matrix, cusparseMatrixType_t type) {
  return guarded(matrix, [&] {
    require_known(type);
    matrix->type = type;
  });
}
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t matrix, cusparseIndexBase_t base) {
  return guarded(matrix, [&] {
    require_known(base);
    matrix->base = base;
  });
}
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t matrix, cusparseFillMode_t mode) {
  return guarded(matrix, [&] {
    require_known(mode);
    matrix->fill = mode;
  });
}
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t matrix, cusparseDiagType_t type) {
  return guarded(matrix, [&] {
    require_known(type);
    matrix->diagonal = type;
  });
}

cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t matrix) { return matrix->type; }
cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t matrix) {
  return matrix->base;
}
cusparseFillMode_t cusparseGetMatFillMode(const cusparseMatDescr_t matrix) { return matrix->fill; }
cusparseDiagType_t cusparseGetMatDiagType(const cusparseMatDescr_t matrix) {
  return matrix->diagonal;
}

cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t cols,
                                   int64_t nnz, void* row_offsets, void* columns, void* values,
                                   cusparseIndexType_t offset_type, cusparseIndexType_t column_type,
                                   cusparseIndexBase_t base, cudaDataType type) {
  return create(matrix, {CUSPARSE_FORMAT_CSR, rows, cols, nnz, row_offsets, columns, values,
                         offset_type, column_type, base, type});
}
cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* matrix, int64_t rows,
                                        int64_t cols, int64_t nnz, const void* row_offsets,
                                        const void* columns, const void* values,
                                        cusparseIndexType_t offset_type,
                                        cusparseIndexType_t column_type, cusparseIndexBase_t base,
                                        cudaDataType type) {
  return cusparseCreateCsr(const_cast<cusparseSpMatDescr_t*>(matrix), rows, cols, nnz,
                           writable(row_offsets), writable(columns), writable(values), offset_type,
                           column_type, base, type);
}
cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t cols,
                                   int64_t nnz, void* column_offsets, void* rows_of_values,
                                   void* values, cusparseIndexType_t offset_type,
                                   cusparseIndexType_t row_type, cusparseIndexBase_t base,
                                   cudaDataType type) {
  return create(matrix, {CUSPARSE_FORMAT_CSC, rows, cols, nnz, column_offsets, rows_of_values,
                         values, offset_type, row_type, base, type});
}
cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* matrix, int64_t rows, int64_t cols,
                                   int64_t nnz, void* rows_of_values, void* columns, void* values,
                                   cusparseIndexType_t type_of_indices, cusparseIndexBase_t base,
                                   cudaDataType type) {
  return create(matrix, {CUSPARSE_FORMAT_COO, rows, cols, nnz, rows_of_values, columns, values,
                         type_of_indices, type_of_indices, base, type});
}
cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) { return destroy(matrix); }
cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t* rows,
                                      int64_t* cols, int64_t* nnz) {
  return guarded(matrix, [&] {
    require(rows, cols, nnz);
    *rows = matrix->rows;
    *cols = matrix->cols;
    *nnz = matrix->nnz;
  });
}
cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix,
                                           cusparseSpMatAttribute_t attribute, void* value,
                                           size_t /*bytes*/) {
  return guarded(matrix, [&] {
    require(value);
    switch (attribute) {
      case CUSPARSE_SPMAT_FILL_MODE: {
        const auto mode = *static_cast<cusparseFillMode_t*>(value);
        require_known(mode);
        matrix->fill = mode;
        return;
      }
      case CUSPARSE_SPMAT_DIAG_TYPE: {
        const auto type = *static_cast<cusparseDiagType_t*>(value);
        require_known(type);
        matrix->diagonal = type;
        return;
      }
    }
    throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
  });
}
cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t matrix, void** values) {
  return guarded(matrix, [&] {
    require(values);
    *values = matrix->values;
  });
}
cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void* values) {
  return guarded(matrix, [&] { matrix->values = values; });
}
cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* row_offsets,
                                        void* columns, void* values) {
  return guarded(matrix, [&] {
    matrix->outer = row_offsets;
    matrix->inner = columns;
    matrix->values = values;
  });
}

cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t matrix, int count,
                                            int64_t offsets_stride, int64_t entries_stride) {
  return guarded(matrix, [&] {
    if (count < 1) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
    matrix->batches = count;
    matrix->outer_stride = offsets_stride;
    matrix->inner_stride = entries_stride;
  });
}

cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t n, void* values,
                                     cudaDataType type) {
  return create(vector, {n, values, type});
}
cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* vector, int64_t n,
                                          const void* values, cudaDataType type) {
  return cusparseCreateDnVec(const_cast<cusparseDnVecDescr_t*>(vector), n, writable(values), type);
}
cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) { return destroy(vector); }
cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values) {
  return guarded(vector, [&] { vector->values = values; });
}
cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void** values) {
  return guarded(vector, [&] {
    require(values);
    *values = vector->values;
  });
}
cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, int64_t rows, int64_t cols,
                                     int64_t ld, void* values, cudaDataType type,
                                     cusparseOrder_t order) {
  const int64_t least = order == CUSPARSE_ORDER_ROW ? cols : rows;
  if (rows < 0 || cols < 0 || ld < least) return CUSPARSE_STATUS_INVALID_VALUE;
  return create(matrix, {rows, cols, ld, values, type, order});
}
cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t* matrix, int64_t rows,
                                          int64_t cols, int64_t ld, const void* values,
                                          cudaDataType type, cusparseOrder_t order) {
  return cusparseCreateDnMat(const_cast<cusparseDnMatDescr_t*>(matrix), rows, cols, ld,
                             writable(values), type, order);
}
cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t matrix, int count,
                                              int64_t stride) {
  return guarded(matrix, [&] {
    if (count < 1) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
    matrix->batches = count;
    matrix->stride = stride;
  });
}
cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) { return destroy(matrix); }
cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* vector, int64_t n, int64_t nnz,
                                     void* indices, void* values, cusparseIndexType_t index_type,
                                     cusparseIndexBase_t base, cudaDataType type) {
  return create(vector, {n, nnz, indices, values, index_type, base, type});
}
cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t vector) { return destroy(vector); }

}  // extern "C"
