#pragma once
// A decoded instruction: a handler, and the locations of its operands.

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "vgpu/model/native_operation.hpp"
#include "vgpu/model/types.hpp"

namespace rung::vgpu {

class Warp;
struct Instr;

/// Executes one instruction for the lanes of warp.mask.
using Handler = void (*)(Warp& warp, const Instr& instr);

/// Registers are rows of 32 lanes in the warp's frame: std::uint16_t[32], std::uint32_t[32] or
/// std::uint64_t[32], aligned to 64 bytes. A predicate is one std::uint32_t, with one bit per lane.
/// Operands are byte offsets of rows. Constants and special registers are rows too, filled before
/// the kernel starts, so handlers need only handle registers.
struct Instr {
  static constexpr std::uint32_t used_later = 0xFFFFFFFFu;  // in another block, or unknown

  Handler full;    // every live lane of the warp is active; other lanes may be overwritten
  Handler masked;  // only lanes of warp.mask may change
  std::array<std::uint32_t, 6> row;  // operands in the order of OpSpec::operands, vectors flattened
  const std::uint32_t* rows;         // all rows if there are more than six, otherwise row.data()
  std::uint64_t imm;                 // a number, or the result of imm_of() or imm_to()
  std::uint32_t site;                // index of the instruction in Kernel::sites
  std::uint32_t guard;  // predicate row; read only by the wrapper for guarded instructions
  Native native;        // its equivalent for the translator, or none
  std::uint32_t last_use = used_later;  // last site in its basic block that needs the results

  /// The object that imm points to, if the lowering set it by imm_to(object).
  template <class Op>
  const Op& op() const {
    return *reinterpret_cast<const Op*>(imm);
  }
  /// The eight bytes of imm as a value, if the lowering set it by imm_of(value).
  template <class Value>
  Value value() const {
    return std::bit_cast<Value>(imm);
  }
};

/// Instr::imm that points to an object, which must live as long as the kernel.
template <class Op>
std::uint64_t imm_to(const Op& op) {
  static_assert(!std::is_pointer_v<Op>);
  return reinterpret_cast<std::uint64_t>(&op);
}

/// Instr::imm that holds a value of eight bytes.
template <class Value>
std::uint64_t imm_of(Value value) {
  return std::bit_cast<std::uint64_t>(value);
}

/// The properties of an instruction that the lowering needs.
struct OpSpec {
  Handler full = nullptr;
  Handler masked = nullptr;
  /// The type of each operand, destinations first. Operands of a pair (p|q) or a vector ({a, b})
  /// are listed separately. The type determines the width of the row and the conversion of
  /// constants. A sink (_) has a row that is never read.
  std::vector<ptx::Type> operands;
  int destinations = 1;
  std::uint64_t imm = 0;  // Instr::imm, such as lop3's table
};

}  // namespace rung::vgpu
