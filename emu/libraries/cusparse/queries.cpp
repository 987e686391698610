// cuSPARSE: what descriptors have, and their pointers.

#include "emu/libraries/cusparse/matrix.hpp"

using namespace rung::emu::cusparse;

namespace {

/// The attributes that all formats have.
void get(cusparseSpMatDescr_t matrix, cusparseFormat_t format, int64_t* rows, int64_t* cols,
         int64_t* nnz, void** outer, void** inner, void** values, cusparseIndexBase_t* base,
         cudaDataType* type) {
  require(rows, cols, nnz, outer, inner, values, base, type);
  if (matrix->format != format) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
  *rows = matrix->rows;
  *cols = matrix->cols;
  *nnz = matrix->nnz;
  *outer = matrix->outer;
  *inner = matrix->inner;
  *values = matrix->values;
  *base = matrix->base;
  *type = matrix->type;
}

cusparseStatus_t set_pointers(cusparseSpMatDescr_t matrix, cusparseFormat_t format, void* outer,
                              void* inner, void* values) {
  return guarded(matrix, [&] {
    if (matrix->format != format) throw Failure{CUSPARSE_STATUS_INVALID_VALUE};
    matrix->outer = outer;
    matrix->inner = inner;
    matrix->values = values;
  });
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t matrix, int64_t* rows, int64_t* cols,
                                int64_t* nnz, void** row_offsets, void** columns, void** values,
                                cusparseIndexType_t* offset_type, cusparseIndexType_t* column_type,
                                cusparseIndexBase_t* base, cudaDataType* type) {
  return guarded(matrix, [&] {
    require(offset_type, column_type);
    get(matrix, CUSPARSE_FORMAT_CSR, rows, cols, nnz, row_offsets, columns, values, base, type);
    *offset_type = matrix->outer_type;
    *column_type = matrix->inner_type;
  });
}
cusparseStatus_t cusparseCscGet(cusparseSpMatDescr_t matrix, int64_t* rows, int64_t* cols,
                                int64_t* nnz, void** column_offsets, void** rows_of_values,
                                void** values, cusparseIndexType_t* offset_type,
                                cusparseIndexType_t* row_type, cusparseIndexBase_t* base,
                                cudaDataType* type) {
  return guarded(matrix, [&] {
    require(offset_type, row_type);
    get(matrix, CUSPARSE_FORMAT_CSC, rows, cols, nnz, column_offsets, rows_of_values, values, base,
        type);
    *offset_type = matrix->outer_type;
    *row_type = matrix->inner_type;
  });
}
cusparseStatus_t cusparseCooGet(cusparseSpMatDescr_t matrix, int64_t* rows, int64_t* cols,
                                int64_t* nnz, void** rows_of_values, void** columns, void** values,
                                cusparseIndexType_t* type_of_indices, cusparseIndexBase_t* base,
                                cudaDataType* type) {
  return guarded(matrix, [&] {
    require(type_of_indices);
    get(matrix, CUSPARSE_FORMAT_COO, rows, cols, nnz, rows_of_values, columns, values, base, type);
    *type_of_indices = matrix->inner_type;
  });
}
cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t matrix,
                                        cusparseFormat_t* format) {
  return guarded(matrix, [&] {
    require(format);
    *format = matrix->format;
  });
}
cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t matrix,
                                           cusparseIndexBase_t* base) {
  return guarded(matrix, [&] {
    require(base);
    *base = matrix->base;
  });
}
cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t matrix, void* rows_of_values,
                                        void* columns, void* values) {
  return set_pointers(matrix, CUSPARSE_FORMAT_COO, rows_of_values, columns, values);
}
cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t matrix, void* column_offsets,
                                        void* rows_of_values, void* values) {
  return set_pointers(matrix, CUSPARSE_FORMAT_CSC, column_offsets, rows_of_values, values);
}
cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t vector, int64_t* n, void** values,
                                  cudaDataType* type) {
  return guarded(vector, [&] {
    require(n, values, type);
    *n = vector->n;
    *values = vector->values;
    *type = vector->type;
  });
}
cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t matrix, int64_t* rows, int64_t* cols,
                                  int64_t* ld, void** values, cudaDataType* type,
                                  cusparseOrder_t* order) {
  return guarded(matrix, [&] {
    require(rows, cols, ld, values, type, order);
    *rows = matrix->rows;
    *cols = matrix->cols;
    *ld = matrix->ld;
    *values = matrix->values;
    *type = matrix->type;
    *order = matrix->order;
  });
}
cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t matrix, void** values) {
  return guarded(matrix, [&] {
    require(values);
    *values = matrix->values;
  });
}
cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void* values) {
  return guarded(matrix, [&] { matrix->values = values; });
}

}  // extern "C"
