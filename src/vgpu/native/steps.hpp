#pragma once

#include <memory>
#include <vector>

#include "vgpu/native/emit.hpp"

namespace rung::vgpu::native {

/// Machine code for the steps of a superinstruction, which must outlive it. `parts`: for
/// NativeSteps::parts().
std::shared_ptr<NativeSteps> native_steps(const Superinstruction& super, const Vectors& vectors,
                                          std::shared_ptr<const Constants> constants,
                                          std::vector<Instr> parts);

}  // namespace rung::vgpu::native
