#pragma once
/* What kernels may call of the runtime: all of it is where programs always have it. */

#include "cuda_runtime_api.h"
