#pragma once
// Declares a Metal rung in one file: a kernel template, guarded by __METAL_VERSION__, and one macro
// line with its name, tile sizes and threads. Apple's compiler, or Rung's, turns
// that line into a kernel per type, named gemm_metal_<NN_slug>_<dtype>. The host's compiler turns
// it into the descriptor gemm_metal_<NN_slug>.

#ifdef __METAL_VERSION__

#include <metal_stdlib>

#include "device/metal/matrix.h"
#include "device/metal/problem.h"

#else

#include "device/metal/descriptor.hpp"
#define constant  // the host reads the constants of a rung, too

#endif

#ifndef __METAL_VERSION__  // the host

#define RUNG_METAL_GEMM_OF(number, slug, ...)                 \
  extern const metal::GemmRung gemm_metal_##number##_##slug = \
      metal::GemmRung{"gemm_metal_" #number "_" #slug, __VA_ARGS__};

// The last arguments are metal::Tiling and the threads per threadgroup.
#define RUNG_METAL_GEMM(number, slug, ...) RUNG_METAL_GEMM_OF(number, slug, {}, __VA_ARGS__)
#define RUNG_METAL_GEMM_MULTIPLES(number, slug, multiple, ...) \
  RUNG_METAL_GEMM_OF(number, slug, {}, __VA_ARGS__, multiple)
#define RUNG_METAL_GEMM_FLOATS(number, slug, ...) \
  RUNG_METAL_GEMM_OF(number, slug, {.i32 = false}, __VA_ARGS__)

#else

#define RUNG_METAL_GEMM_ENTRY(name, function, In, Out) \
  template [[host_name(#name)]] [[kernel]] decltype(function<In, Out>) function<In, Out>;

#define RUNG_METAL_GEMM_FLOATS(number, slug, ...)                                 \
  RUNG_METAL_GEMM_ENTRY(gemm_metal_##number##_##slug##_f32, slug, float, float)   \
  RUNG_METAL_GEMM_ENTRY(gemm_metal_##number##_##slug##_bf16, slug, bfloat, float) \
  RUNG_METAL_GEMM_ENTRY(gemm_metal_##number##_##slug##_f16, slug, half, float)
#define RUNG_METAL_GEMM(number, slug, ...)          \
  RUNG_METAL_GEMM_FLOATS(number, slug, __VA_ARGS__) \
  RUNG_METAL_GEMM_ENTRY(gemm_metal_##number##_##slug##_i32, slug, uint, uint)
#define RUNG_METAL_GEMM_MULTIPLES(number, slug, ...) RUNG_METAL_GEMM(number, slug, __VA_ARGS__)

#endif
