#pragma once
// Finds the loads whose value some threads do not use (model/unused_loads.hpp).

#include "vgpu/model/unused_loads.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Follows each load's value through the instructions that compute a lane's result from that lane's operands. A
/// register counts as one value, whichever instruction wrote it.
UnusedLoads unused_loads(const ptx::Function& function);

}  // namespace rung::vgpu
