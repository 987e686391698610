#pragma once
// The opcode of an instruction ("ld" of ld.global.f32) and the properties that all its forms share,
// both from the table in instructions.def.

#include <cstdint>
#include <string_view>

namespace rung::vgpu::ptx {

/// `unknown` stands for every word without a row in the table. and_, not_, or_ and xor_ have an
/// underscore because C++ reserves the words.
enum class Opcode : std::uint8_t {
  unknown,
#define RUNG_PTX_INSTRUCTION(id, opcode, kind, facts) id,
#include "vgpu/ptx/instructions.def"
};

/// The groups of the instruction set (PTX ISA, 9.7).
enum class InstructionKind : std::uint8_t {
  other,
  arithmetic,  // also comparisons: the type decides which unit of the SM runs them
  logic,
  move,
  conversion,
  special_function,
  matrix,         // multiplication, transposition, and the loads and stores of wmma
  matrix_memory,  // ldmatrix, stmatrix
  memory,         // the state space decides which memory
  atomic,
  async_copy,
  control,
  barrier,
  warp,
};

/// Properties of every form of an instruction.
enum class Fact : std::uint16_t {
  none = 0,
  lane_wise = 1 << 0,            // computes a lane's result from its operands and does nothing else
  in_place = 1 << 1,             // reads all operands of a lane before it writes the lane's result
  no_result = 1 << 2,            // the first operand is a source or an address
  defines_result = 1 << 3,       // the result counts as defined, even if an operand is not
  exposes_values = 1 << 4,       // its operands reach other threads or decide the control flow
  loads = 1 << 5,                // from memory into registers
  stores = 1 << 6,               // registers to memory
  orders_memory = 1 << 7,        // no load of shared memory may be moved across it
  cache_hint = 1 << 8,           // has no effect on results
  warp_wide = 1 << 9,            // depends on which lanes of the warp execute it together
  member_mask = 1 << 10,         // .sync: the last operand names the lanes that take part
  suspends = 1 << 11,            // the warp may have to wait
  ends_block = 1 << 12,          // ends a basic block
  combines_predicate = 1 << 13,  // the last operand may be a predicate, also negated
  predicate_logic = 1 << 14,     // .pred: every source may be negated
};

constexpr Fact operator|(Fact a, Fact b) {
  return static_cast<Fact>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// The opcode with this text; `unknown` if the table has no row for it.
Opcode opcode_named(std::string_view word);
/// As PTX writes it; empty for `unknown`.
std::string_view name(Opcode opcode);
/// `other` for `unknown`.
InstructionKind kind_of(Opcode opcode);
/// Whether at least one of these facts holds. None holds for `unknown`.
bool has(Opcode opcode, Fact fact);

}  // namespace rung::vgpu::ptx
