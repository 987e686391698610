#pragma once
// Which functions of a kernel need a call stack. All others are inlined.

#include <set>
#include <string>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Bytes of the parameters and results of a function or of a call, in order. Two calls with equal
/// signatures have equal frames (call_stack.hpp).
struct Signature {
  std::vector<std::int64_t> results, parameters;
  bool operator==(const Signature&) const = default;
};
Signature signature_of(const ptx::Function& function);
/// Of a call in `function`.
Signature signature_of(const ptx::Function& function, const ptx::Instruction& call);

/// What a call instruction calls: a symbol, a label or a register.
const ptx::Operand& target_of(const ptx::Instruction& call);

class CallGraph {
 public:
  CallGraph(const ptx::Module& module, const ptx::Function& entry);

  /// Whether it calls itself, directly or by way of others, or may be called through a pointer.
  bool needs_stack(const ptx::Function& function) const { return on_stack_.contains(&function); }
  const std::set<const ptx::Function*>& on_stack() const { return on_stack_; }

  /// The functions that a call through a pointer with this signature may reach: all those with a
  /// body whose address the module takes.
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
