// Stub for builds without metal-cpp.

#include "backends/metal/apple/apple_gpu.hpp"

namespace rung::metal {

AppleGpu open_apple_gpu() {
#ifdef __APPLE__
  return {nullptr, "built without metal-cpp (docs/metal.md)"};
#else
  return {nullptr, "Metal needs macOS"};
#endif
}

}  // namespace rung::metal
