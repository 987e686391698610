#pragma once
/* threadIdx and its like are part of cuda_runtime.h, which every program is compiled with. */

#include "cuda_runtime.h"
