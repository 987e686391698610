#pragma once
/* Part of curand_kernel.h; the name is kept for programs that include it. */

#include "curand_kernel.h"
