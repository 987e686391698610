// For machines that the translator has no assembler for.

#include "vgpu/native/translate.hpp"

namespace rung::vgpu::native {

bool is_supported() { return false; }
void translate(Kernel&) {}

}  // namespace rung::vgpu::native
