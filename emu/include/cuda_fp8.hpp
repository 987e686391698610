#pragma once
// The vendor's header of this name has what cuda_fp8.h only declares.
#include "cuda_fp8.h"
