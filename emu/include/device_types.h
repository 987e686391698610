#pragma once
/* Part of cuda_runtime.h; the name is kept for programs that include it. */

#include "cuda_runtime.h"
#include "rung_emu/round_mode.h"
