#pragma once
/* cuSPARSE: the generic interface on CSR, CSC and COO, in single and double precision, real and
 * complex. Computed on the CPU. A call that is missing here is missing by its name. */

#define CUSPARSE_H_

#include "rung_emu/cusparse_conversions.h"
#include "rung_emu/cusparse_types.h"

#ifdef __cplusplus
extern "C" {
#endif

RUNG_EMU_API const char* cusparseGetErrorName(cusparseStatus_t status);
RUNG_EMU_API const char* cusparseGetErrorString(cusparseStatus_t status);
RUNG_EMU_API cusparseStatus_t cusparseCreate(cusparseHandle_t* handle);
RUNG_EMU_API cusparseStatus_t cusparseDestroy(cusparseHandle_t handle);
RUNG_EMU_API cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version);
RUNG_EMU_API cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream);
RUNG_EMU_API cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream);
RUNG_EMU_API cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle,
                                                     cusparsePointerMode_t mode);
RUNG_EMU_API cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle,
                                                     cusparsePointerMode_t* mode);

RUNG_EMU_API cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* matrix);
RUNG_EMU_API cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t matrix);
RUNG_EMU_API cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t matrix,
                                                 cusparseMatrixType_t type);
RUNG_EMU_API cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t matrix,
                                                      cusparseIndexBase_t base);
RUNG_EMU_API cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t matrix,
                                                     cusparseFillMode_t mode);
RUNG_EMU_API cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t matrix,
                                                     cusparseDiagType_t type);
RUNG_EMU_API cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t matrix);
RUNG_EMU_API cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t matrix);
RUNG_EMU_API cusparseFillMode_t cusparseGetMatFillMode(const cusparseMatDescr_t matrix);
RUNG_EMU_API cusparseDiagType_t cusparseGetMatDiagType(const cusparseMatDescr_t matrix);

RUNG_EMU_API cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* matrix, int64_t rows,
                                                int64_t cols, int64_t nnz, void* row_offsets,
                                                void* columns, void* values,
                                                cusparseIndexType_t offset_type,
                                                cusparseIndexType_t column_type,
                                                cusparseIndexBase_t base, cudaDataType type);
RUNG_EMU_API cusparseStatus_t cusparseCreateConstCsr(cusparseConstSpMatDescr_t* matrix,
                                                     int64_t rows, int64_t cols, int64_t nnz,
                                                     const void* row_offsets, const void* columns,
                                                     const void* values,
                                                     cusparseIndexType_t offset_type,
                                                     cusparseIndexType_t column_type,
                                                     cusparseIndexBase_t base, cudaDataType type);
RUNG_EMU_API cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* matrix, int64_t rows,
                                                int64_t cols, int64_t nnz, void* column_offsets,
                                                void* rows_of_values, void* values,
                                                cusparseIndexType_t offset_type,
                                                cusparseIndexType_t row_type,
                                                cusparseIndexBase_t base, cudaDataType type);
RUNG_EMU_API cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* matrix, int64_t rows,
                                                int64_t cols, int64_t nnz, void* rows_of_values,
                                                void* columns, void* values,
                                                cusparseIndexType_t type_of_indices,
                                                cusparseIndexBase_t base, cudaDataType type);
RUNG_EMU_API cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix);
RUNG_EMU_API cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t* rows,
                                                   int64_t* cols, int64_t* nnz);
RUNG_EMU_API cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix,
                                                        cusparseSpMatAttribute_t attribute,
                                                        void* value, size_t bytes);
RUNG_EMU_API cusparseStatus_t cusparseSpMatGetValues(cusparseSpMatDescr_t matrix, void** values);
RUNG_EMU_API cusparseStatus_t cusparseSpMatSetValues(cusparseSpMatDescr_t matrix, void* values);
RUNG_EMU_API cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* row_offsets,
                                                     void* columns, void* values);
RUNG_EMU_API cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t matrix, int count,
                                                         int64_t offsets_stride,
                                                         int64_t entries_stride);
RUNG_EMU_API cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t n,
                                                  void* values, cudaDataType type);
RUNG_EMU_API cusparseStatus_t cusparseCreateConstDnVec(cusparseConstDnVecDescr_t* vector, int64_t n,
                                                       const void* values, cudaDataType type);
RUNG_EMU_API cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector);
RUNG_EMU_API cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values);
RUNG_EMU_API cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void** values);
RUNG_EMU_API cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, int64_t rows,
                                                  int64_t cols, int64_t ld, void* values,
                                                  cudaDataType type, cusparseOrder_t order);
RUNG_EMU_API cusparseStatus_t cusparseCreateConstDnMat(cusparseConstDnMatDescr_t* matrix,
                                                       int64_t rows, int64_t cols, int64_t ld,
                                                       const void* values, cudaDataType type,
                                                       cusparseOrder_t order);
RUNG_EMU_API cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t matrix, int count,
                                                           int64_t stride);
RUNG_EMU_API cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix);
RUNG_EMU_API cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* vector, int64_t n,
                                                  int64_t nnz, void* indices, void* values,
                                                  cusparseIndexType_t index_type,
                                                  cusparseIndexBase_t base, cudaDataType type);
/* What a descriptor has. */
RUNG_EMU_API cusparseStatus_t cusparseCsrGet(cusparseSpMatDescr_t matrix, int64_t* rows,
                                             int64_t* cols, int64_t* nnz, void** row_offsets,
                                             void** columns, void** values,
                                             cusparseIndexType_t* offset_type,
                                             cusparseIndexType_t* column_type,
                                             cusparseIndexBase_t* base, cudaDataType* type);
RUNG_EMU_API cusparseStatus_t cusparseCscGet(cusparseSpMatDescr_t matrix, int64_t* rows,
                                             int64_t* cols, int64_t* nnz, void** column_offsets,
                                             void** rows_of_values, void** values,
                                             cusparseIndexType_t* offset_type,
                                             cusparseIndexType_t* row_type,
                                             cusparseIndexBase_t* base, cudaDataType* type);
RUNG_EMU_API cusparseStatus_t cusparseCooGet(cusparseSpMatDescr_t matrix, int64_t* rows,
                                             int64_t* cols, int64_t* nnz, void** rows_of_values,
                                             void** columns, void** values,
                                             cusparseIndexType_t* type_of_indices,
                                             cusparseIndexBase_t* base, cudaDataType* type);
RUNG_EMU_API cusparseStatus_t cusparseSpMatGetFormat(cusparseConstSpMatDescr_t matrix,
                                                     cusparseFormat_t* format);
RUNG_EMU_API cusparseStatus_t cusparseSpMatGetIndexBase(cusparseConstSpMatDescr_t matrix,
                                                        cusparseIndexBase_t* base);
RUNG_EMU_API cusparseStatus_t cusparseCooSetPointers(cusparseSpMatDescr_t matrix,
                                                     void* rows_of_values, void* columns,
                                                     void* values);
RUNG_EMU_API cusparseStatus_t cusparseCscSetPointers(cusparseSpMatDescr_t matrix,
                                                     void* column_offsets, void* rows_of_values,
                                                     void* values);
RUNG_EMU_API cusparseStatus_t cusparseDnVecGet(cusparseDnVecDescr_t vector, int64_t* n,
                                               void** values, cudaDataType* type);
RUNG_EMU_API cusparseStatus_t cusparseDnMatGet(cusparseDnMatDescr_t matrix, int64_t* rows,
                                               int64_t* cols, int64_t* ld, void** values,
                                               cudaDataType* type, cusparseOrder_t* order);
RUNG_EMU_API cusparseStatus_t cusparseDnMatGetValues(cusparseDnMatDescr_t matrix, void** values);
RUNG_EMU_API cusparseStatus_t cusparseDnMatSetValues(cusparseDnMatDescr_t matrix, void* values);
RUNG_EMU_API cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t vector);

RUNG_EMU_API cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha,
                                            cusparseConstSpVecDescr_t x, const void* beta,
                                            cusparseDnVecDescr_t y);
RUNG_EMU_API cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y,
                                             cusparseSpVecDescr_t x);
RUNG_EMU_API cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x,
                                              cusparseDnVecDescr_t y);
RUNG_EMU_API cusparseStatus_t cusparseSpVV_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpVecDescr_t x,
    cusparseConstDnVecDescr_t y, const void* result, cudaDataType type, size_t* bytes);
RUNG_EMU_API cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t op,
                                           cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                                           void* result, cudaDataType type, void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle,
                                                      cusparseOperation_t op, const void* alpha,
                                                      cusparseConstSpMatDescr_t a,
                                                      cusparseConstDnVecDescr_t x, const void* beta,
                                                      cusparseDnVecDescr_t y, cudaDataType type,
                                                      cusparseSpMVAlg_t algorithm, size_t* bytes);
RUNG_EMU_API cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle,
                                                      cusparseOperation_t op, const void* alpha,
                                                      cusparseConstSpMatDescr_t a,
                                                      cusparseConstDnVecDescr_t x, const void* beta,
                                                      cusparseDnVecDescr_t y, cudaDataType type,
                                                      cusparseSpMVAlg_t algorithm, void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op,
                                           const void* alpha, cusparseConstSpMatDescr_t a,
                                           cusparseConstDnVecDescr_t x, const void* beta,
                                           cusparseDnVecDescr_t y, cudaDataType type,
                                           cusparseSpMVAlg_t algorithm, void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSpMM_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void* beta,
    cusparseDnMatDescr_t c, cudaDataType type, cusparseSpMMAlg_t algorithm, size_t* bytes);
RUNG_EMU_API cusparseStatus_t cusparseSpMM_preprocess(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, const void* beta,
    cusparseDnMatDescr_t c, cudaDataType type, cusparseSpMMAlg_t algorithm, void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                                           cusparseOperation_t op_b, const void* alpha,
                                           cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                           const void* beta, cusparseDnMatDescr_t c,
                                           cudaDataType type, cusparseSpMMAlg_t algorithm,
                                           void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t handle,
                                                               cusparseConstSpMatDescr_t a,
                                                               cusparseDnMatDescr_t b,
                                                               cusparseSparseToDenseAlg_t algorithm,
                                                               size_t* bytes);
RUNG_EMU_API cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle,
                                                    cusparseConstSpMatDescr_t a,
                                                    cusparseDnMatDescr_t b,
                                                    cusparseSparseToDenseAlg_t algorithm,
                                                    void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t handle,
                                                               cusparseConstDnMatDescr_t a,
                                                               cusparseSpMatDescr_t b,
                                                               cusparseDenseToSparseAlg_t algorithm,
                                                               size_t* bytes);
RUNG_EMU_API cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle,
                                                             cusparseConstDnMatDescr_t a,
                                                             cusparseSpMatDescr_t b,
                                                             cusparseDenseToSparseAlg_t algorithm,
                                                             void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle,
                                                            cusparseConstDnMatDescr_t a,
                                                            cusparseSpMatDescr_t b,
                                                            cusparseDenseToSparseAlg_t algorithm,
                                                            void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* product);
RUNG_EMU_API cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t product);
RUNG_EMU_API cusparseStatus_t cusparseSpGEMM_workEstimation(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void* beta,
    cusparseSpMatDescr_t c, cudaDataType type, cusparseSpGEMMAlg_t algorithm,
    cusparseSpGEMMDescr_t product, size_t* bytes, void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSpGEMM_compute(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void* beta,
    cusparseSpMatDescr_t c, cudaDataType type, cusparseSpGEMMAlg_t algorithm,
    cusparseSpGEMMDescr_t product, size_t* bytes, void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t op_a,
                                                  cusparseOperation_t op_b, const void* alpha,
                                                  cusparseConstSpMatDescr_t a,
                                                  cusparseConstSpMatDescr_t b, const void* beta,
                                                  cusparseSpMatDescr_t c, cudaDataType type,
                                                  cusparseSpGEMMAlg_t algorithm,
                                                  cusparseSpGEMMDescr_t product);
RUNG_EMU_API cusparseStatus_t cusparseSDDMM_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void* beta,
    cusparseSpMatDescr_t c, cudaDataType type, cusparseSDDMMAlg_t algorithm, size_t* bytes);
RUNG_EMU_API cusparseStatus_t cusparseSDDMM_preprocess(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstDnMatDescr_t a, cusparseConstDnMatDescr_t b, const void* beta,
    cusparseSpMatDescr_t c, cudaDataType type, cusparseSDDMMAlg_t algorithm, void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                                            cusparseOperation_t op_b, const void* alpha,
                                            cusparseConstDnMatDescr_t a,
                                            cusparseConstDnMatDescr_t b, const void* beta,
                                            cusparseSpMatDescr_t c, cudaDataType type,
                                            cusparseSDDMMAlg_t algorithm, void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* solver);
RUNG_EMU_API cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t solver);
RUNG_EMU_API cusparseStatus_t cusparseSpSV_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t op, const void* alpha, cusparseConstSpMatDescr_t a,
    cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y, cudaDataType type,
    cusparseSpSVAlg_t algorithm, cusparseSpSVDescr_t solver, size_t* bytes);
RUNG_EMU_API cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t op,
                                                    const void* alpha, cusparseConstSpMatDescr_t a,
                                                    cusparseConstDnVecDescr_t x,
                                                    cusparseDnVecDescr_t y, cudaDataType type,
                                                    cusparseSpSVAlg_t algorithm,
                                                    cusparseSpSVDescr_t solver, void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op,
                                                 const void* alpha, cusparseConstSpMatDescr_t a,
                                                 cusparseConstDnVecDescr_t x,
                                                 cusparseDnVecDescr_t y, cudaDataType type,
                                                 cusparseSpSVAlg_t algorithm,
                                                 cusparseSpSVDescr_t solver);
RUNG_EMU_API cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* solver);
RUNG_EMU_API cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t solver);
RUNG_EMU_API cusparseStatus_t cusparseSpSM_bufferSize(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c,
    cudaDataType type, cusparseSpSMAlg_t algorithm, cusparseSpSMDescr_t solver, size_t* bytes);
RUNG_EMU_API cusparseStatus_t cusparseSpSM_analysis(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c,
    cudaDataType type, cusparseSpSMAlg_t algorithm, cusparseSpSMDescr_t solver, void* buffer);
RUNG_EMU_API cusparseStatus_t cusparseSpSM_solve(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b, cusparseDnMatDescr_t c,
    cudaDataType type, cusparseSpSMAlg_t algorithm, cusparseSpSMDescr_t solver);

#ifdef __cplusplus
}
#endif
