#pragma once
// Emits the instructions of calls through the call stack (call_stack.hpp).

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/lowering/stack_frame.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// A growing function body with a stack pointer. New instructions take their source line from
/// `from` or `call`.
class StackWriter {
 protected:
  void place(std::string label);
  /// Appends an instruction. A branch inherits the guard of `from`.
  void emit(const ptx::Instruction& from, ptx::Opcode opcode, std::vector<std::string> modifiers,
            std::vector<ptx::Operand> operands);
  int add_register(std::string name, ptx::Type type);
  /// The type name of an operand, such as "b32" for a 32-bit register.
  std::string type_of(const ptx::Operand& passed) const;

  ptx::Operand frame_address(std::int64_t offset) const;
  void move_stack_pointer(const ptx::Instruction& call, std::int64_t bytes);
  /// save() and restore() renumber registers of a function whose first register is
  /// `first_register`.
  void save(const ptx::Instruction& call, const StackFrame::Saved& saved, int first_register);
  void restore(const ptx::Instruction& call, const StackFrame::Saved& saved, int first_register);

  ptx::Function result_;
  int stack_pointer_ = -1;
};

}  // namespace rung::vgpu
