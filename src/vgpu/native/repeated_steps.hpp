#pragma once

#include <span>

#include "vgpu/model/kernel.hpp"
#include "vgpu/native/emitter.hpp"

namespace rung::vgpu::native {

/// Code for several runs of a superinstruction's steps, if these are sums of products: a few sums at
/// a time stay in registers for all runs, rather than all sums for one step each. None if the steps
/// do something else, if the patterns have no regular order, or if it would be no faster.
NativeSteps::Repeated repeated_steps(const Superinstruction& super,
                                     std::span<const LoadPattern> patterns, Emitter& to);

}  // namespace rung::vgpu::native
