// Replaces the translator on machines for which it has no assembler.

#include "vgpu/native/translate.hpp"

namespace rung::vgpu::native {

bool is_supported() { return false; }
void translate(Kernel&) {}

}  // namespace rung::vgpu::native
