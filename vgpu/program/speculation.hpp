#pragma once
// Speculated loads: loads that the compiler moved ahead of their condition.
//
// If that is safe, compilers load s[i] of `c ? s[i] : 0` unconditionally and select afterwards.
// They also hoist loads of an `if` above its branch. Lanes whose condition is false discard the
// value, so it is not a race of the program if others write it meanwhile. Therefore, such a load is
// checked for races where its value is selected, and only for the lanes that use it.

#include <cstddef>
#include <map>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/liveness.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// A use of the value. The lanes that use it are known just before this instruction: those whose
/// predicate is true.
struct SpeculatedUse {
  std::size_t instruction;  // in Function::body
  int predicate;            // register
  bool negated;
};

/// Maps a load, by its index in Function::body, to all uses of its value, direct or through
/// instructions that only compute. The uses are inside the load's basic block, or on one side of
/// the branch that ends it.
using SpeculatedLoads = std::map<std::size_t, std::vector<SpeculatedUse>>;

SpeculatedLoads speculated_loads(const ptx::Function& function, const Cfg& cfg,
                                 const Liveness& liveness);

}  // namespace rung::vgpu
