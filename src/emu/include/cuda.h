#pragma once
// Programs of the runtime API include this although they do not need it. The driver API, cuInit and
// so on, is not here; a program that calls it gets an error with the function's name.

#include "cuda_runtime.h"
