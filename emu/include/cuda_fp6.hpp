#pragma once
// The vendor's header of this name has what cuda_fp6.h only declares.
#include "cuda_fp6.h"
