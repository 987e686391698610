#pragma once
/* Types of pointers to the driver's calls, which cudaGetDriverEntryPoint finds. */

#include "cuda.h"

#ifdef __cplusplus
#define RUNG_EMU_CALL(name, version)    \
  using PFN_##name = decltype(&::name); \
  using PFN_##name##_v##version = PFN_##name;
#else
#define RUNG_EMU_CALL(name, version) typedef __typeof__(&name) PFN_##name, PFN_##name##_v##version;
#endif

/* The version of CUDA that has the call in this form first. */
RUNG_EMU_CALL(cuInit, 2000)
RUNG_EMU_CALL(cuDriverGetVersion, 2020)
RUNG_EMU_CALL(cuGetErrorString, 6000)
RUNG_EMU_CALL(cuGetErrorName, 6000)
RUNG_EMU_CALL(cuDeviceGet, 2000)
RUNG_EMU_CALL(cuDeviceGetCount, 2000)
RUNG_EMU_CALL(cuDeviceGetName, 2000)
RUNG_EMU_CALL(cuDeviceGetAttribute, 2000)
RUNG_EMU_CALL(cuCtxGetCurrent, 4000)
RUNG_EMU_CALL(cuCtxSetCurrent, 4000)
RUNG_EMU_CALL(cuModuleLoadData, 2000)
RUNG_EMU_CALL(cuModuleLoadDataEx, 2010)
RUNG_EMU_CALL(cuModuleUnload, 2000)
RUNG_EMU_CALL(cuModuleGetFunction, 2000)
RUNG_EMU_CALL(cuFuncGetAttribute, 2020)
RUNG_EMU_CALL(cuFuncSetAttribute, 9000)
RUNG_EMU_CALL(cuLaunchKernel, 4000)
RUNG_EMU_CALL(cuLaunchKernelEx, 11060)
RUNG_EMU_CALL(cuTensorMapEncodeTiled, 12000)
RUNG_EMU_CALL(cuTensorMapEncodeIm2col, 12000)
RUNG_EMU_CALL(cuTensorMapEncodeIm2colWide, 12080)

#undef RUNG_EMU_CALL
