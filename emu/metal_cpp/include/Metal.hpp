#pragma once
// The single header that metal-cpp's script SingleHeader/MakeSingleHeader.py makes.

#include "Foundation/Foundation.hpp"
#include "Metal/Metal.hpp"
#include "QuartzCore/QuartzCore.hpp"
