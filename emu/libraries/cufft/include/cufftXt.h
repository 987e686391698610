#pragma once
/* cuFFT by data types and sizes of 64 bits, on one GPU: single and double precision, and half
 * precision where the elements follow each other. */
#include "cufft.h"

#ifdef __cplusplus
extern "C" {
#endif

RUNG_EMU_API cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int* n,
                                             long long int* in_sizes, long long int in_stride,
                                             long long int in_distance, cudaDataType in_type,
                                             long long int* out_sizes, long long int out_stride,
                                             long long int out_distance, cudaDataType out_type,
                                             long long int batch, size_t* work_bytes,
                                             cudaDataType execution_type);
RUNG_EMU_API cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long int* n,
                                            long long int* in_sizes, long long int in_stride,
                                            long long int in_distance, cudaDataType in_type,
                                            long long int* out_sizes, long long int out_stride,
                                            long long int out_distance, cudaDataType out_type,
                                            long long int batch, size_t* work_bytes,
                                            cudaDataType execution_type);
RUNG_EMU_API cufftResult cufftXtExec(cufftHandle plan, void* in, void* out, int direction);

#ifdef __cplusplus
}
#endif
