#pragma once
// The opcode of an instruction ("ld" of ld.global.f32), and the properties common to all its forms.
// Both come from the table in instructions.def.

#include <cstdint>
#include <string_view>

namespace rung::vgpu::ptx {

/// One enumerator for each row of the table, and `unknown`, which is 0: opcodes.hpp.
enum class Opcode : std::uint8_t;

/// Groups of the instruction set (PTX ISA, 9.7).
enum class InstructionKind : std::uint8_t {
  other,
  arithmetic,  // including comparisons; the type determines the unit of the SM
  logic,
  move,
  conversion,
  special_function,
  matrix,         // multiplication, transposition, and wmma loads and stores
  matrix_memory,  // ldmatrix, stmatrix
  memory,         // the state space determines which
  atomic,
  async_copy,
  control,
  barrier,
  warp,
};

/// Properties that hold for every form of an instruction.
enum class Fact : std::uint16_t {
  none = 0,
  lane_wise = 1 << 0,            // only computes a lane's result from that lane's operands
  in_place = 1 << 1,             // reads all operands of a lane before it writes the lane's result
  no_result = 1 << 2,            // the first operand is a source or an address
  defines_result = 1 << 3,       // the result counts as defined, even if an operand is undefined
  exposes_values = 1 << 4,       // operands reach other threads or determine the control flow
  loads = 1 << 5,                // memory to registers
  stores = 1 << 6,               // registers to memory
  orders_memory = 1 << 7,        // no load of shared memory may be moved across it
  cache_hint = 1 << 8,           // does not affect results
  warp_wide = 1 << 9,            // depends on which lanes of the warp execute it together
  member_mask = 1 << 10,         // .sync: the last operand names the participating lanes
  suspends = 1 << 11,            // the warp may have to wait
  ends_block = 1 << 12,          // ends a basic block
  combines_predicate = 1 << 13,  // the last operand may be a predicate, possibly negated
  predicate_logic = 1 << 14,     // .pred: every source may be negated
};

constexpr Fact operator|(Fact a, Fact b) {
  return static_cast<Fact>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// The opcode with this text; `unknown` if the table has no row for it.
Opcode opcode_named(std::string_view word);
/// The text of an opcode; empty for `unknown`.
std::string_view name(Opcode opcode);
/// The kind of an opcode; `other` for `unknown`.
InstructionKind kind_of(Opcode opcode);
/// True if at least one of these facts holds. Always false for `unknown`.
bool has(Opcode opcode, Fact fact);

}  // namespace rung::vgpu::ptx
