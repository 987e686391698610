#pragma once
/* Of cuSPARSE's older interface, what CUDA 13 still has: conversions and sorts of CSR and COO, sums of two
 * matrices in CSR, tridiagonal systems. Indices are int. */

#include "cuComplex.h"
#include "rung_emu/cusparse_types.h"

#ifdef __cplusplus
extern "C" {
#endif

RUNG_EMU_API cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* row_of_entry,
                                               int nnz, int rows, int* row_offsets,
                                               cusparseIndexBase_t base);
RUNG_EMU_API cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* row_offsets,
                                               int nnz, int rows, int* row_of_entry,
                                               cusparseIndexBase_t base);
/* 0 to n - 1, for the sorts to permute. */
RUNG_EMU_API cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int n,
                                                                int* permutation);
RUNG_EMU_API cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t handle, int rows,
                                                             int cols, int nnz,
                                                             const int* row_of_entry,
                                                             const int* col_of_entry,
                                                             size_t* bytes);
RUNG_EMU_API cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int rows, int cols,
                                                    int nnz, int* row_of_entry, int* col_of_entry,
                                                    int* permutation, void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int rows, int cols,
                                                       int nnz, int* row_of_entry,
                                                       int* col_of_entry, int* permutation,
                                                       void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t handle, int rows,
                                                             int cols, int nnz,
                                                             const int* row_offsets,
                                                             const int* columns, size_t* bytes);
RUNG_EMU_API cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int rows, int cols, int nnz,
                                               const cusparseMatDescr_t matrix,
                                               const int* row_offsets, int* columns,
                                               int* permutation, void* buffer);

typedef enum { CUSPARSE_CSR2CSC_ALG_DEFAULT = 1, CUSPARSE_CSR2CSC_ALG1 = 1 } cusparseCsr2CscAlg_t;
RUNG_EMU_API cusparseStatus_t cusparseCsr2cscEx2_bufferSize(
    cusparseHandle_t handle, int rows, int cols, int nnz, const void* values,
    const int* row_offsets, const int* columns, void* csc_values, int* column_offsets,
    int* row_of_entry, cudaDataType type, cusparseAction_t action, cusparseIndexBase_t base,
    cusparseCsr2CscAlg_t algorithm, size_t* bytes);
RUNG_EMU_API cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int rows, int cols,
                                                 int nnz, const void* values,
                                                 const int* row_offsets, const int* columns,
                                                 void* csc_values, int* column_offsets,
                                                 int* row_of_entry, cudaDataType type,
                                                 cusparseAction_t action, cusparseIndexBase_t base,
                                                 cusparseCsr2CscAlg_t algorithm, void* buffer);

/* C = alpha A + beta B: the number of C's entries first, then C. */
RUNG_EMU_API cusparseStatus_t cusparseXcsrgeam2Nnz(cusparseHandle_t handle, int rows, int cols,
                                                   const cusparseMatDescr_t a, int a_nnz,
                                                   const int* a_offsets, const int* a_columns,
                                                   const cusparseMatDescr_t b, int b_nnz,
                                                   const int* b_offsets, const int* b_columns,
                                                   const cusparseMatDescr_t c, int* c_offsets,
                                                   int* c_nnz, void* buffer);

#define RUNG_EMU_CUSPARSE_OF_TYPE(T, Name)                                                       \
  RUNG_EMU_API cusparseStatus_t cusparse##Name##csrgeam2_bufferSizeExt(                          \
      cusparseHandle_t handle, int rows, int cols, const T* alpha, const cusparseMatDescr_t a,   \
      int a_nnz, const T* a_values, const int* a_offsets, const int* a_columns, const T* beta,   \
      const cusparseMatDescr_t b, int b_nnz, const T* b_values, const int* b_offsets,            \
      const int* b_columns, const cusparseMatDescr_t c, const T* c_values, const int* c_offsets, \
      const int* c_columns, size_t* bytes);                                                      \
  RUNG_EMU_API cusparseStatus_t cusparse##Name##csrgeam2(                                        \
      cusparseHandle_t handle, int rows, int cols, const T* alpha, const cusparseMatDescr_t a,   \
      int a_nnz, const T* a_values, const int* a_offsets, const int* a_columns, const T* beta,   \
      const cusparseMatDescr_t b, int b_nnz, const T* b_values, const int* b_offsets,            \
      const int* b_columns, const cusparseMatDescr_t c, T* c_values, int* c_offsets,             \
      int* c_columns, void* buffer);                                                             \
  RUNG_EMU_API cusparseStatus_t cusparse##Name##gtsv2_bufferSizeExt(                             \
      cusparseHandle_t handle, int n, int right_sides, const T* lower, const T* diagonal,        \
      const T* upper, const T* b, int ldb, size_t* bytes);                                       \
  RUNG_EMU_API cusparseStatus_t cusparse##Name##gtsv2(                                           \
      cusparseHandle_t handle, int n, int right_sides, const T* lower, const T* diagonal,        \
      const T* upper, T* b, int ldb, void* buffer);                                              \
  RUNG_EMU_API cusparseStatus_t cusparse##Name##gtsv2StridedBatch_bufferSizeExt(                 \
      cusparseHandle_t handle, int n, const T* lower, const T* diagonal, const T* upper,         \
      const T* x, int batches, int stride, size_t* bytes);                                       \
  RUNG_EMU_API cusparseStatus_t cusparse##Name##gtsv2StridedBatch(                               \
      cusparseHandle_t handle, int n, const T* lower, const T* diagonal, const T* upper, T* x,   \
      int batches, int stride, void* buffer);
RUNG_EMU_CUSPARSE_OF_TYPE(float, S)
RUNG_EMU_CUSPARSE_OF_TYPE(double, D)
RUNG_EMU_CUSPARSE_OF_TYPE(cuComplex, C)
RUNG_EMU_CUSPARSE_OF_TYPE(cuDoubleComplex, Z)
#undef RUNG_EMU_CUSPARSE_OF_TYPE

#ifdef __cplusplus
}
#endif
