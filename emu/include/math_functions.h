#pragma once
/* Part of cuda_runtime.h; the name is kept for programs that include it. */

/* As in the header of the vendor: programs ask for it. */
#define __MATH_FUNCTIONS_H__

#include "cuda_runtime.h"
