#pragma once
// The vendor's header of this name has what cuda_bf16.h only declares.
#include "cuda_bf16.h"
