#pragma once
/* cuFFT: transforms of one to three dimensions, in batches, computed on the CPU by FFTW (library
 * libfftw3.so.3, which is opened when the first plan is made) in double precision. */

#define _CUFFT_H_

#include "cuComplex.h"
#include "cuda_runtime_api.h"
#include "library_types.h"

#define CUFFT_VERSION 11200
#define CUFFT_FORWARD -1
#define CUFFT_INVERSE 1

typedef enum cufftResult_t {
  CUFFT_SUCCESS = 0,
  CUFFT_INVALID_PLAN = 1,
  CUFFT_ALLOC_FAILED = 2,
  CUFFT_INVALID_TYPE = 3,
  CUFFT_INVALID_VALUE = 4,
  CUFFT_INTERNAL_ERROR = 5,
  CUFFT_EXEC_FAILED = 6,
  CUFFT_SETUP_FAILED = 7,
  CUFFT_INVALID_SIZE = 8,
  CUFFT_UNALIGNED_DATA = 9,
  CUFFT_INCOMPLETE_PARAMETER_LIST = 10,
  CUFFT_INVALID_DEVICE = 11,
  CUFFT_PARSE_ERROR = 12,
  CUFFT_NO_WORKSPACE = 13,
  CUFFT_NOT_IMPLEMENTED = 14,
  CUFFT_LICENSE_ERROR = 15,
  CUFFT_NOT_SUPPORTED = 16,
  CUFFT_MISSING_DEPENDENCY = 17,
  CUFFT_NVRTC_FAILURE = 18,
  CUFFT_NVJITLINK_FAILURE = 19,
  CUFFT_NVSHMEM_FAILURE = 20
} cufftResult;

typedef enum cufftType_t {
  CUFFT_R2C = 0x2a,
  CUFFT_C2R = 0x2c,
  CUFFT_C2C = 0x29,
  CUFFT_D2Z = 0x6a,
  CUFFT_Z2D = 0x6c,
  CUFFT_Z2Z = 0x69
} cufftType;

typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;

#ifdef __cplusplus
extern "C" {
#endif

RUNG_EMU_API cufftResult cufftCreate(cufftHandle* plan);
RUNG_EMU_API cufftResult cufftDestroy(cufftHandle plan);
RUNG_EMU_API cufftResult cufftPlan1d(cufftHandle* plan, int n, cufftType type, int batch);
RUNG_EMU_API cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type);
RUNG_EMU_API cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type);
RUNG_EMU_API cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* in_sizes,
                                       int in_stride, int in_distance, int* out_sizes,
                                       int out_stride, int out_distance, cufftType type, int batch);
RUNG_EMU_API cufftResult cufftMakePlan1d(cufftHandle plan, int n, cufftType type, int batch,
                                         size_t* work_bytes);
RUNG_EMU_API cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type,
                                         size_t* work_bytes);
RUNG_EMU_API cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                                         size_t* work_bytes);
RUNG_EMU_API cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* in_sizes,
                                           int in_stride, int in_distance, int* out_sizes,
                                           int out_stride, int out_distance, cufftType type,
                                           int batch, size_t* work_bytes);
RUNG_EMU_API cufftResult cufftEstimate1d(int n, cufftType type, int batch, size_t* work_bytes);
RUNG_EMU_API cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* work_bytes);
RUNG_EMU_API cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type,
                                         size_t* work_bytes);
RUNG_EMU_API cufftResult cufftGetSize(cufftHandle plan, size_t* work_bytes);
RUNG_EMU_API cufftResult cufftSetWorkArea(cufftHandle plan, void* work);
RUNG_EMU_API cufftResult cufftSetAutoAllocation(cufftHandle plan, int allocates);
RUNG_EMU_API cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream);
RUNG_EMU_API cufftResult cufftGetVersion(int* version);
RUNG_EMU_API cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out,
                                      int direction);
RUNG_EMU_API cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out);
RUNG_EMU_API cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out);
RUNG_EMU_API cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in,
                                      cufftDoubleComplex* out, int direction);
RUNG_EMU_API cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in,
                                      cufftDoubleComplex* out);
RUNG_EMU_API cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in,
                                      cufftDoubleReal* out);

#ifdef __cplusplus
}
#endif
