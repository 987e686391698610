#pragma once
// Decides which functions of a kernel need a call stack. All others are inlined.

#include <set>
#include <string>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Sizes in bytes of the results and parameters of a function or call, in order. Calls with equal
/// signatures have equal frames (call_stack.hpp).
struct Signature {
  std::vector<std::int64_t> results, parameters;
  bool operator==(const Signature&) const = default;
};
Signature signature_of(const ptx::Function& function);
/// The signature of a call in `function`.
Signature signature_of(const ptx::Function& function, const ptx::Instruction& call);

/// The target of a call instruction: a symbol, a label or a register.
const ptx::Operand& target_of(const ptx::Instruction& call);

class CallGraph {
 public:
  CallGraph(const ptx::Module& module, const ptx::Function& entry);

  /// True if the function calls itself, directly or indirectly, or may be called through a pointer.
  bool needs_stack(const ptx::Function& function) const { return on_stack_.contains(&function); }

  /// The functions that a call through a pointer with this signature may reach: all defined
  /// functions with that signature whose address the module takes.
  std::vector<const ptx::Function*> reachable_by_pointer(const Signature& signature) const;

 private:
  void visit(const ptx::Function& function);
  bool calls_itself(const ptx::Function& function) const;
  std::vector<const ptx::Function*> direct_callees(const ptx::Function& function) const;

  const ptx::Module& module_;
  std::vector<const ptx::Function*> address_taken_;
  std::set<const ptx::Function*> visited_, on_stack_;
};

}  // namespace rung::vgpu
