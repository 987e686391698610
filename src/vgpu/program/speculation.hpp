#pragma once
// Loads that the compiler moved ahead of their condition.
//
// Where `c ? s[i] : 0` may load s[i] in any case, compilers do, and select afterwards; and they
// move loads of an `if` in front of its branch. The lanes for which the condition is false have a
// value that goes nowhere: that they read while others write is no race of the program's. So of
// such a load, whether it races is asked where its value is chosen, and of those lanes alone.

#include <cstddef>
#include <map>
#include <vector>

#include "vgpu/program/cfg.hpp"
#include "vgpu/program/liveness.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Just before this instruction it is known who uses the value: the lanes whose predicate holds.
struct SpeculatedUse {
  std::size_t instruction;  // in Function::body
  int predicate;            // a register
  bool negated;
};

/// By the load's index in Function::body. All uses of the value, by however many instructions that
/// only compute, are among them: inside the load's basic block, or behind one side of the branch
/// that ends it.
using SpeculatedLoads = std::map<std::size_t, std::vector<SpeculatedUse>>;

SpeculatedLoads speculated_loads(const ptx::Function& function, const Cfg& cfg,
                                 const Liveness& liveness);

}  // namespace rung::vgpu
