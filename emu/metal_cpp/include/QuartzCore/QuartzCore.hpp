#pragma once
// QuartzCore by metal-cpp's names: nothing is displayed here, so layers and drawables are only named.

#include "Foundation/Foundation.hpp"
#include "Metal/Metal.hpp"

namespace CA {
class MetalDrawable;
class MetalLayer;
}  // namespace CA

__attribute__((visibility("default"))) double CACurrentMediaTime();
