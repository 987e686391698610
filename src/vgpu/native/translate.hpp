#pragma once

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu::native {

/// Whether this CPU can run translated code: it needs AVX-512 (F, BW, DQ and VL), or AVX2 and FMA.
bool is_supported();

/// Fills in Kernel::native_code: runs of instructions between others become one each, in machine
/// code; and Kernel::machine_code, which chains the basic blocks. Does nothing if the CPU is not
/// supported, or the system allows no machine code to be made at run time.
void translate(Kernel& kernel);

}  // namespace rung::vgpu::native
