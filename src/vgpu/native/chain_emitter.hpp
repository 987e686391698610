#pragma once

#include <memory>
#include <span>

#include "vgpu/engine/execution/chain.hpp"
#include "vgpu/native/emit.hpp"

namespace rung::vgpu::native {

/// The chain of the kernel's blocks, for Kernel::native_code, which has to stay where it is. `runs`:
/// what each of these instructions stands for; null for those with a handler. The chain keeps
/// `functions`, the code that handlers are in.
std::shared_ptr<const Chain> chained(const Kernel& kernel, const Constants& constants,
                                     std::span<const Run* const> runs,
                                     std::shared_ptr<const Emitter> functions);

}  // namespace rung::vgpu::native
