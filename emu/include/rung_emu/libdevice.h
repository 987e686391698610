#pragma once
// The functions that clang's headers expect in NVIDIA's libdevice, a library that only the CUDA toolkit
// contains. Arithmetic functions are one PTX instruction each; the mathematical functions are this
// project's own. A call of a function that clang declares and these headers lack is refused by name.

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
