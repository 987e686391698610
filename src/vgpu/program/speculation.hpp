#pragma once
// Speculated loads: loads that the compiler moved ahead of their condition.
//
// Compilers load s[i] of `c ? s[i] : 0` unconditionally where that is safe, and select afterwards;
// they also hoist loads of an `if` above its branch. Lanes whose condition is false discard the
// value, so it is not a race of the program if others write it meanwhile. Such a load is therefore
// checked for races where its value is selected, and only for the lanes that use it.

#include <cstddef>
#include <map>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/liveness.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The lanes that use the value are known just before this instruction: those whose predicate
/// holds.
struct SpeculatedUse {
  std::size_t instruction;  // in Function::body
  int predicate;            // a register
  bool negated;
};

/// By the load's index in Function::body, with all uses of the value, directly or through
/// instructions that only compute. They are inside the load's basic block, or on one side of the
/// branch that ends it.
using SpeculatedLoads = std::map<std::size_t, std::vector<SpeculatedUse>>;

SpeculatedLoads speculated_loads(const ptx::Function& function, const Cfg& cfg,
                                 const Liveness& liveness);

}  // namespace rung::vgpu
