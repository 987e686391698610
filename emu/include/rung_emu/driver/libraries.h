#pragma once
/* Libraries, whose kernels are those of a module; the linker of PTX; launches of CUDA 3. */

#include "rung_emu/driver/errors.h"
#include "rung_emu/driver/handles.h"
#include "rung_emu/driver/options.h"

typedef struct CUlib_st* CUlibrary;
typedef struct CUkern_st* CUkernel;
typedef struct CUlinkState_st* CUlinkState;
typedef enum CUlibraryOption_enum {
  CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE = 0,
  CU_LIBRARY_BINARY_IS_PRESERVED = 1
} CUlibraryOption;
typedef enum CUjitInputType_enum {
  CU_JIT_INPUT_CUBIN = 0,
  CU_JIT_INPUT_PTX = 1,
  CU_JIT_INPUT_FATBINARY = 2,
  CU_JIT_INPUT_OBJECT = 3,
  CU_JIT_INPUT_LIBRARY = 4,
  CU_JIT_INPUT_NVVM = 5
} CUjitInputType;
typedef enum CUmoduleLoadingMode_enum {
  CU_MODULE_EAGER_LOADING = 1,
  CU_MODULE_LAZY_LOADING = 2
} CUmoduleLoadingMode;

#ifdef __cplusplus
extern "C" {
#endif

RUNG_EMU_API CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options,
                                        void** values, unsigned count,
                                        CUlibraryOption* library_options, void** library_values,
                                        unsigned library_count);
RUNG_EMU_API CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file,
                                            CUjit_option* options, void** values, unsigned count,
                                            CUlibraryOption* library_options, void** library_values,
                                            unsigned library_count);
RUNG_EMU_API CUresult cuLibraryUnload(CUlibrary library);
RUNG_EMU_API CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name);
RUNG_EMU_API CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library);
RUNG_EMU_API CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUlibrary library,
                                         const char* name);
RUNG_EMU_API CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel);
RUNG_EMU_API CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute,
                                           CUkernel kernel, CUdevice device);
RUNG_EMU_API CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value,
                                           CUkernel kernel, CUdevice device);
RUNG_EMU_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device);
RUNG_EMU_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode);

/* Inputs are PTX, and what rung-nvcc writes for -cubin and -fatbin, which is PTX too. */
RUNG_EMU_API CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values,
                                      CUlinkState* state);
RUNG_EMU_API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data,
                                       size_t bytes, const char* name, unsigned count,
                                       CUjit_option* options, void** values);
RUNG_EMU_API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* file,
                                       unsigned count, CUjit_option* options, void** values);
RUNG_EMU_API CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes);
RUNG_EMU_API CUresult cuLinkDestroy(CUlinkState state);

/* Launches whose shape and arguments are set one by one. */
RUNG_EMU_API CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z);
RUNG_EMU_API CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes);
RUNG_EMU_API CUresult cuParamSetSize(CUfunction function, unsigned bytes);
RUNG_EMU_API CUresult cuParamSeti(CUfunction function, int offset, unsigned value);
RUNG_EMU_API CUresult cuParamSetf(CUfunction function, int offset, float value);
RUNG_EMU_API CUresult cuParamSetv(CUfunction function, int offset, void* value, unsigned bytes);
RUNG_EMU_API CUresult cuLaunch(CUfunction function);
RUNG_EMU_API CUresult cuLaunchGrid(CUfunction function, int width, int height);
RUNG_EMU_API CUresult cuLaunchGridAsync(CUfunction function, int width, int height,
                                        CUstream stream);

#ifdef __cplusplus
}
#endif
