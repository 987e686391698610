#pragma once
// Writes the instructions of calls by the call stack (call_stack.hpp).

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/lowering/stack_frame.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// A text that grows, and the stack pointer in it. `from` and `call` are the instructions whose
/// place in the source the new ones have.
class StackWriter {
 protected:
  void place(std::string label);
  /// Appends an instruction; a branch is under the guard of `from`.
  void emit(const ptx::Instruction& from, ptx::Opcode opcode, std::vector<std::string> modifiers,
            std::vector<ptx::Operand> operands);
  int add_register(std::string name, ptx::Type type);
  /// "b32" for a register of 32 bits.
  std::string type_of(const ptx::Operand& passed) const;

  ptx::Operand frame_address(std::int64_t offset) const;
  void move_stack_pointer(const ptx::Instruction& call, std::int64_t bytes);
  /// Registers are those of a function whose first one is `first_register`.
  void save(const ptx::Instruction& call, const StackFrame::Saved& saved, int first_register);
  void restore(const ptx::Instruction& call, const StackFrame::Saved& saved, int first_register);

  ptx::Function result_;
  int stack_pointer_ = -1;
};

}  // namespace rung::vgpu
