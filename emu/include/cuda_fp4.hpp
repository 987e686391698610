#pragma once
// The vendor's header of this name has what cuda_fp4.h only declares.
#include "cuda_fp4.h"
