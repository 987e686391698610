#pragma once
/* Part of cublas_v2.h; the name is kept for programs that include it. */

#include "cublas_v2.h"
