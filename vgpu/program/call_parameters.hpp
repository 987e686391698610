#pragma once
// Replaces parameters of calls that are in memory by registers.

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Replaces `.param` variables of the body by registers, one for each offset that is stored or
/// loaded, and their st.param and ld.param by mov. A variable remains if a call refers to it, if
/// its address is taken, if its accesses overlap, or if they are narrower or wider than the
/// registers that they copy.
void parameters_to_registers(ptx::Function& function);

}  // namespace rung::vgpu
