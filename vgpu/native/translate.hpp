#pragma once

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu::native {

/// True if this CPU can run translated code: it needs AVX-512 (F, BW, DQ and VL), or AVX2 and FMA.
bool is_supported();

/// Sets Kernel::native_code, in which each run of translatable instructions is a single one in
/// machine code, and Kernel::machine_code, which chains the basic blocks. Does nothing if the CPU
/// is not supported or the system does not allow generating code at run time.
void translate(Kernel& kernel);

}  // namespace rung::vgpu::native
