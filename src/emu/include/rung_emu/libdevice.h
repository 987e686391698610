#pragma once
// The functions that clang's headers expect of NVIDIA's libdevice, a library that comes with the
// CUDA toolkit alone. Those of arithmetic are one PTX instruction each; the mathematics is our own.
// What is declared by clang and not defined here is refused by name when it is called.

#define RUNG_EMU_NV extern "C" inline __device__ __attribute__((always_inline))
#define RUNG_EMU_MATH extern "C" inline __device__

// In the order in which they use each other.
// clang-format off
#include "rung_emu/libdevice/rounding.h"
#include "rung_emu/libdevice/conversion.h"
#include "rung_emu/libdevice/integer.h"
#include "rung_emu/libdevice/basic.h"
#include "rung_emu/libdevice/approximate.h"
#include "rung_emu/libdevice/double_math.h"
#include "rung_emu/libdevice/trigonometry.h"
#include "rung_emu/libdevice/hyperbolic.h"
#include "rung_emu/libdevice/special_math.h"
#include "rung_emu/libdevice/float_math.h"
// clang-format on

#undef RUNG_EMU_NV
#undef RUNG_EMU_MATH
