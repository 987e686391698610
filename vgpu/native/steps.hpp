#pragma once

#include <memory>
#include <span>
#include <vector>

#include "vgpu/model/kernel.hpp"
#include "vgpu/native/emit.hpp"
#include "vgpu/native/emitter.hpp"

namespace rung::vgpu::native {

/// Returns machine code for the steps of a superinstruction, which must outlive it. `parts`:
/// returned by NativeSteps::parts().
std::shared_ptr<NativeSteps> native_steps(const Superinstruction& super, const Vectors& vectors,
                                          std::shared_ptr<const Constants> constants,
                                          std::vector<Instr> parts);

/// Code for several runs of a superinstruction's steps, if these are sums of products: a few sums at
/// a time stay in registers for all runs, rather than all sums for one step each. None if the steps
/// do something else, if the patterns have no regular order, or if it would be no faster.
NativeSteps::Repeated repeated_steps(const Superinstruction& super,
                                     std::span<const LoadPattern> patterns, Emitter& to);

}  // namespace rung::vgpu::native
