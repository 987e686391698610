#pragma once
// Random numbers of the device: XORWOW, Philox4x32-10 and MRG32k3a, with the bits of cuRAND.

#define CURAND_KERNEL_H_

#include "cuda_runtime.h"
#include "curand.h"

// In the order in which they use each other.
// clang-format off
#include "rung_emu/random/xorwow.h"
#include "rung_emu/random/philox.h"
#include "rung_emu/random/mrg32k3a.h"
#include "rung_emu/random/distributions.h"
// clang-format on

typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
#undef RUNG_EMU_RANDOM
