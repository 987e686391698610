#pragma once
// The functions that device code can call without an include. Most come with clang, in headers that expect
// CUDA's own headers around them; this project provides those. The order matters: declarations of the
// device's mathematics must come before <cmath>, or clang would compile constexpr functions of the C++
// library for both sides.

// clang-format off

// Counters by source line belong to the line that calls one of these.
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

#include <__clang_cuda_math_forward_declares.h>

#include "rung_emu/constant_ceil.h"
#include <cstdlib>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <__clang_cuda_builtin_vars.h>

#include <__clang_cuda_libdevice_declares.h>

#include "rung_emu/libdevice.h"

#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>

#include "rung_emu/system_calls.h"

__device__ inline __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_threadIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockDim_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_gridDim_t::operator uint3() const { return {x, y, z}; }

#include "rung_emu/address_spaces.h"

#include <__clang_cuda_cmath.h>

// clang 19's reductions hand mask and value to the instruction in the wrong order: renamed, and
// replaced by rung_emu/reductions.h. Shuffles without a mask are in
// rung_emu/old_warp_functions.h.
#define __reduce_add_sync __rung_emu_clang_reduce_add_sync
#define __reduce_min_sync __rung_emu_clang_reduce_min_sync
#define __reduce_max_sync __rung_emu_clang_reduce_max_sync
#define __reduce_and_sync __rung_emu_clang_reduce_and_sync
#define __reduce_or_sync __rung_emu_clang_reduce_or_sync
#define __reduce_xor_sync __rung_emu_clang_reduce_xor_sync
#define __shfl __rung_emu_clang_shfl
#define __shfl_up __rung_emu_clang_shfl_up
#define __shfl_down __rung_emu_clang_shfl_down
#define __shfl_xor __rung_emu_clang_shfl_xor
#include <__clang_cuda_intrinsics.h>
#undef __shfl
#undef __shfl_up
#undef __shfl_down
#undef __shfl_xor
#undef __reduce_add_sync
#undef __reduce_min_sync
#undef __reduce_max_sync
#undef __reduce_and_sync
#undef __reduce_or_sync
#undef __reduce_xor_sync

#include <__clang_cuda_complex_builtins.h>

#include "rung_emu/atomics.h"
#include "rung_emu/cache_hints.h"
#include "rung_emu/device_launch.h"
#include "rung_emu/device_runtime.h"
#include "rung_emu/float_overloads.h"
#include "rung_emu/float_pairs.h"
#include "rung_emu/host_math.h"
#include "rung_emu/min_max.h"
#include "rung_emu/nv_atomics.h"
#include "rung_emu/old_warp_functions.h"
#include "rung_emu/reductions.h"
#include "rung_emu/video.h"

// clang-format on

#pragma clang attribute pop

// The call that clang makes of a launch, kernel<<<grid, block, shared, stream>>>. The default arguments
// are the source location of the launch.
extern "C" RUNG_EMU_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block,
                                                             size_t shared_bytes = 0,
                                                             cudaStream_t stream = 0,
                                                             const char* file = __builtin_FILE(),
                                                             int line = __builtin_LINE());
