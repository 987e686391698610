#pragma once
// Parameters of calls, in registers rather than in memory.

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Replaces `.param` variables of the body by registers, one for each place that is stored or
/// loaded, and their st.param and ld.param by mov. Variables stay that calls, or anything else that
/// takes their address, refer to, and those whose places overlap or are narrower or wider than the
/// registers they are copied from or to.
void parameters_to_registers(ptx::Function& function);

}  // namespace rung::vgpu
