#pragma once
#include "../nvToolsExtCudaRt.h"
