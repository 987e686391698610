#pragma once
// The CUDA Runtime API with its C++ half, and CUDA C++ itself. `rung emu` has every program begin
// with this header, as nvcc does with its own.

/* As in the header of the vendor: programs ask for it. */
#define __CUDA_RUNTIME_H__

#include "cuda_runtime_api.h"
#include "host_defines.h"
#include "vector_functions.h"
#include "vector_types.h"

#ifdef __CUDA__
// Macros by which a program finds out which compiler compiles it.
#ifndef __CUDACC__
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ RUNG_EMU_CUDA_MINOR
#define __CUDACC_VER_BUILD__ 0
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#define __CUDA_API_VER_MAJOR__ 12
#define __CUDA_API_VER_MINOR__ RUNG_EMU_CUDA_MINOR
// Types that these headers lack; CUDA's C++ libraries would otherwise use another installation's.
#define CCCL_DISABLE_NVFP8_SUPPORT
#define CCCL_DISABLE_NVFP6_SUPPORT
#define CCCL_DISABLE_NVFP4_SUPPORT
#define CCCL_DISABLE_CTK_COMPATIBILITY_CHECK
#define CCCL_DISABLE_NVTX
#endif

#include "rung_emu/address.h"
#include "rung_emu/device.h"
#endif

/* The option --default-stream per-thread. It holds for the whole program. */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#ifdef __cplusplus
extern "C"
#endif
    RUNG_EMU_API void
    rung_emu_use_per_thread_default_streams(void);
__attribute__((constructor)) static void rung_emu_choose_default_streams(void) {
  rung_emu_use_per_thread_default_streams();
}
#endif

#ifdef __cplusplus
#include "channel_descriptor.h"
#ifndef __CUDA__
#include "rung_emu/host_math.h"
#endif
#include "rung_emu/launch_templates.h"
#include "rung_emu/runtime_templates.h"

// Headers that programs use without including them, because nvcc's prelude has them.
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>
#include <utility>
#endif

#ifdef __CUDA__
#include "rung_emu/managed.h"
#include "rung_emu/textures.h"
#endif
