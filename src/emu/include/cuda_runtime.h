#pragma once
// The CUDA Runtime API with its C++ half, and CUDA C++ itself. `rung emu` has every program begin
// with this header, as nvcc does with its own.

#include "cuda_runtime_api.h"
#include "host_defines.h"
#include "vector_functions.h"
#include "vector_types.h"

#ifdef __CUDA__
// What a program may ask for to find out who compiles it.
#ifndef __CUDACC__
#define __CUDACC__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 0
#endif

#include "rung_emu/device.h"
#include "rung_emu/runtime_templates.h"
#endif
