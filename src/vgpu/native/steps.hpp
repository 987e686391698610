#pragma once

#include <memory>

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu::native {

/// Machine code for the steps of a superinstruction, which must outlive it.
std::shared_ptr<NativeSteps> native_steps(const Superinstruction& super);

}  // namespace rung::vgpu::native
