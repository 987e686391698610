#pragma once
// Tracking of undefined values. Each register that may be read before it is written, and each that
// depends on it, has a shadow: a row of 64 bits per lane, in which a set bit marks an undefined bit
// of the register (J. Seward and N. Nethercote, "Using Valgrind to detect undefined value errors
// with bit-precision", USENIX 2005). Unless stated otherwise, these handlers run before the
// instruction that they belong to, rows are shadows, and row 0 is written.

#include <cstddef>

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

class Block;

/// The low half of Instr::imm is the number of rows to write, the high half the number of rows to
/// read, which follow them. All bits of the former become undefined if any bit of the latter is.
void undefined_if_any(Warp& warp, const Instr& instr);

/// Packed arithmetic: as undefined_if_any() with one row to write, for each half of the register. The low half of
/// Instr::imm is the width of a half in bits.
void undefined_by_halves(Warp& warp, const Instr& instr);

/// Row 0 = row 1 | row 2.
void undefined_if_either(Warp& warp, const Instr& instr);

/// undefined_part() copies bits of row 1 to row 0. Its Instr::imm is an UndefinedPart.
struct UndefinedPart {
  std::uint8_t from, width;  // in the source
  std::uint8_t to;           // position of the lowest bit in the destination
  bool adds;                 // keep the other bits of the destination
  std::uint32_t unused = 0;
};
void undefined_part(Warp& warp, const Instr& instr);

/// selp: selects row 1 or 2 by the predicate in row 3, whose shadow is row 4.
void undefined_by_choice(Warp& warp, const Instr& instr);

/// and, or: if the value of one operand (rows 3 and 4) determines a bit, the other operand's shadow
/// (rows 1 and 2) does not matter. Instr::imm is an UndefinedLogic.
struct UndefinedLogic {
  bool is_or;
  std::uint8_t bytes;  // per value; 0: predicates
  std::uint16_t unused = 0;
  std::uint32_t unused_too = 0;
};
void undefined_by_logic(Warp& warp, const Instr& instr);

/// A value in shared memory, at the address in row 1. Stored in Instr::imm.
struct SharedValue {
  std::int32_t offset;  // added to the address
  std::uint8_t bytes;
  std::uint8_t address_bytes;  // width of row 1; 0: no address register
  std::uint16_t within = 0;    // offset from the first byte of the thread's access
};
/// After a store: marks the bytes for which row 0 has a bit set as not written.
void take_back_undefined(Warp& warp, const Instr& instr);
/// True if the last store to the granule stored an undefined value.
bool holds_undefined(const Block& block, std::size_t granule);
/// After a load: marks bits as undefined where holds_undefined() is true.
void undefined_in_shared(Warp& warp, const Instr& instr);

/// Before a load of a tracking version: marks the bits that it is an error to use, and notes which they are in
/// Block::unwritten_reads.
void undefined_by_load(Warp& warp, const Instr& instr);

/// Reports a use of an undefined value if row 0 has a bit set. Instr::imm points at an UndefinedUse.
void report_undefined(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
