#pragma once
/* The interface with handles; the older one without is not here. */

#include "cublas_v2.h"
