#pragma once
/* NVRTC: CUDA C++ in a string, compiled by clang while the program runs. */

#define __NVRTC_H__

#include <stddef.h>

#include "cuda_runtime_api.h"

#ifdef __cplusplus
#include <string>
#include <typeinfo>
extern "C" {
#endif

typedef struct nvrtcProgram_st* nvrtcProgram;

typedef enum {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
  NVRTC_ERROR_INVALID_INPUT = 3,
  NVRTC_ERROR_INVALID_PROGRAM = 4,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
  NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
  NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
  NVRTC_ERROR_INTERNAL_ERROR = 11
} nvrtcResult;

RUNG_EMU_API const char* nvrtcGetErrorString(nvrtcResult result);
RUNG_EMU_API nvrtcResult nvrtcVersion(int* major, int* minor);
RUNG_EMU_API nvrtcResult nvrtcGetNumSupportedArchs(int* count);
RUNG_EMU_API nvrtcResult nvrtcGetSupportedArchs(int* architectures);
RUNG_EMU_API nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source,
                                            const char* name, int header_count,
                                            const char* const* headers,
                                            const char* const* include_names);
RUNG_EMU_API nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program);
RUNG_EMU_API nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count,
                                             const char* const* options);
RUNG_EMU_API nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes);
RUNG_EMU_API nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx);
/* The virtual GPU has no machine code: these give the PTX, too. */
RUNG_EMU_API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes);
RUNG_EMU_API nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* ptx);
RUNG_EMU_API nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes);
RUNG_EMU_API nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log);
RUNG_EMU_API nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression);
RUNG_EMU_API nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression,
                                             const char** name);

#ifdef __cplusplus
}
#endif
