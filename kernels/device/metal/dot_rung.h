#pragma once
// Declares a Metal dot rung with a kernel template and one macro line, like gemm rungs
// (device/metal/rung.h). Its kernels are named dot_metal_<NN_slug>_<dtype>; their buffers are
// DotScalars, x, y and the result. A rung that reduces its own sums in further launches also has
// the kernels dot_metal_<NN_slug>_again_<dtype>, which sum the elements of x.

#ifdef __METAL_VERSION__

#include <metal_stdlib>

#include "device/metal/problem.h"
#include "device/metal/terms.h"

// The last arguments are the kernel: a template with its arguments.
#define RUNG_METAL_DOT_ENTRY(name, In, Out, ...) \
  template [[host_name(#name)]] [[kernel]] decltype(__VA_ARGS__) __VA_ARGS__;

#define RUNG_METAL_DOT_ENTRIES(entry, function, ...)                                     \
  RUNG_METAL_DOT_ENTRY(entry##_f32, float, float, function<__VA_ARGS__ float, float>)    \
  RUNG_METAL_DOT_ENTRY(entry##_i32, uint, uint, function<__VA_ARGS__ uint, uint>)        \
  RUNG_METAL_DOT_ENTRY(entry##_bf16, bfloat, float, function<__VA_ARGS__ bfloat, float>) \
  RUNG_METAL_DOT_ENTRY(entry##_f16, half, float, function<__VA_ARGS__ half, float>)

#define RUNG_METAL_DOT(number, slug, ...) \
  RUNG_METAL_DOT_ENTRIES(dot_metal_##number##_##slug, slug, )
#define RUNG_METAL_DOT_IN_TURNS(number, slug, ...) \
  RUNG_METAL_DOT_ENTRIES(dot_metal_##number##_##slug, slug, )
#define RUNG_METAL_DOT_PASSES(number, slug, ...)                              \
  RUNG_METAL_DOT_ENTRIES(dot_metal_##number##_##slug, slug, true, )           \
  RUNG_METAL_DOT_ENTRY(dot_metal_##number##_##slug##_again_f32, float, float, \
                       slug<false, float, float>)                             \
  RUNG_METAL_DOT_ENTRY(dot_metal_##number##_##slug##_again_i32, uint, uint, slug<false, uint, uint>)

#else

#include "device/metal/dot_descriptor.hpp"
#define constant  // the host reads the constants of a rung, too

#define RUNG_METAL_DOT_OF(number, slug, ...)                \
  extern const metal::DotRung dot_metal_##number##_##slug = \
      metal::DotRung{"dot_metal_" #number "_" #slug, __VA_ARGS__};

#define RUNG_METAL_DOT(number, slug, threads, terms, finish) \
  RUNG_METAL_DOT_OF(number, slug, threads, terms, metal::finish)
#define RUNG_METAL_DOT_IN_TURNS(number, slug, threads, terms, most) \
  RUNG_METAL_DOT_OF(number, slug, threads, terms, metal::Finish::zeroed, most)
#define RUNG_METAL_DOT_PASSES(number, slug, threads, terms, scratch)                              \
  RUNG_METAL_DOT_OF(number, slug, threads, terms, metal::Finish::passes, metal::any_threadgroups, \
                    scratch)

#endif
