#pragma once
// Programs of the runtime API include this without need. Of the driver API, cuInit and so on,
// nothing is here, and a program that calls it is told so by name.

#include "cuda_runtime.h"
