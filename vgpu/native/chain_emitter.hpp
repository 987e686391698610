#pragma once

#include <memory>
#include <span>

#include "vgpu/engine/execution/chain.hpp"
#include "vgpu/native/emit.hpp"

namespace rung::vgpu::native {

/// Returns the chain of the kernel's blocks, for Kernel::native_code, which must not move. `runs`:
/// the instructions that each element of native_code replaces; null for those with a handler. The
/// chain keeps `functions`, the code of handlers, alive.
std::shared_ptr<const Chain> chained(const Kernel& kernel, const Constants& constants,
                                     std::span<const Run* const> runs,
                                     std::shared_ptr<const Emitter> functions);

}  // namespace rung::vgpu::native
