#pragma once
/* All transforms that this library has are in cufft.h. */
#include "cufft.h"
