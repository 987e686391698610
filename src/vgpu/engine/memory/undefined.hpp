#pragma once
// Values that nobody has computed. A register that may be read before it is written, and each that
// its value goes to, has a shadow: a row of 64 bits a lane, set where the register's bit is
// undefined (J. Seward and N. Nethercote, "Using Valgrind to detect undefined value errors with
// bit-precision", USENIX 2005). What follows runs before the instruction that it belongs to; unless
// said otherwise, rows are shadows, and row 0 is written.

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// The first rows are written, as many as the low half of Instr::imm says: all their bits are
/// undefined if one of the next rows is, as many as the high half says.
void undefined_if_any(Warp& warp, const Instr& instr);

/// Row 0 = row 1 | row 2.
void undefined_if_either(Warp& warp, const Instr& instr);

/// Bits of row 1, moved. Instr::imm is one of these.
struct UndefinedPart {
  std::uint8_t from, width;  // in the source
  std::uint8_t to;           // where the lowest of them goes
  bool adds;                 // the destination keeps what it has
  std::uint32_t unused = 0;
};
void undefined_part(Warp& warp, const Instr& instr);

/// selp: row 1 or 2, by the predicate in row 3, whose shadow is row 4.
void undefined_by_choice(Warp& warp, const Instr& instr);

/// and, or: where one value, in rows 3 and 4, decides, the other's shadow (rows 1 and 2) does not
/// matter. Instr::imm is one of these.
struct UndefinedLogic {
  bool is_or;
  std::uint8_t bytes;  // of a value; 0: predicates
  std::uint16_t unused = 0;
  std::uint32_t unused_too = 0;
};
void undefined_by_logic(Warp& warp, const Instr& instr);

/// A value is about to matter: reported if row 0 has a bit. Instr::imm points at the report's text.
void report_undefined(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
