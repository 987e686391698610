#include "vgpu/program/instruction_class.hpp"

#include <algorithm>
#include <string_view>

#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

/// The class by the type of an arithmetic instruction: the last type written, which for `set` is
/// the source type.
InstrClass of_arithmetic(const ptx::Instruction& instruction) {
  const std::string_view type =
      instruction.modifiers.empty() ? std::string_view() : instruction.modifiers.back();
  if (type.starts_with("f16") || type.starts_with("bf16")) return InstrClass::fp16;
  if (type.starts_with("f32")) return InstrClass::fp32;
  return type == "f64" ? InstrClass::fp64 : InstrClass::integer;
}

bool has_space(const ptx::Instruction& instruction, std::string_view space) {
  return std::any_of(
      instruction.modifiers.begin(), instruction.modifiers.end(), [&](std::string_view modifier) {
        return modifier == space ||
               (modifier.starts_with(space) && modifier.substr(space.size(), 2) == "::");
      });
}

/// The class of a memory instruction. A generic access counts as a global one.
InstrClass of_memory(const ptx::Instruction& instruction) {
  if (has_space(instruction, "shared")) return InstrClass::shared_memory;
  if (has_space(instruction, "local")) return InstrClass::local_memory;
  if (has_space(instruction, "const") || has_space(instruction, "param")) {
    return InstrClass::constant_memory;
  }
  return InstrClass::global_memory;
}

}  // namespace

InstrClass classify(const ptx::Instruction& instruction) {
  using ptx::InstructionKind;
  if (instruction.opcode == ptx::Opcode::wmma && !instruction.has("mma")) {
    return of_memory(instruction);
  }
  switch (kind_of(instruction.opcode)) {
    case InstructionKind::arithmetic: return of_arithmetic(instruction);
    case InstructionKind::logic: return InstrClass::logic;
    case InstructionKind::move: return InstrClass::move;
    case InstructionKind::conversion: return InstrClass::conversion;
    case InstructionKind::special_function: return InstrClass::special_function;
    case InstructionKind::matrix: return InstrClass::matrix;
    case InstructionKind::matrix_memory: return InstrClass::shared_memory;
    case InstructionKind::memory: return of_memory(instruction);
    case InstructionKind::atomic: return InstrClass::atomic;
    case InstructionKind::async_copy: return InstrClass::async_copy;
    case InstructionKind::control: return InstrClass::control;
    case InstructionKind::barrier: return InstrClass::barrier;
    case InstructionKind::warp: return InstrClass::warp;
    case InstructionKind::other: break;
  }
  return InstrClass::other;
}

}  // namespace rung::vgpu
