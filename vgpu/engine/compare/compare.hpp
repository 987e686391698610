#pragma once
// How setp and set use the result of a comparison (PTX ISA, 9.7.6).

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/engine/lanes/lane_types.hpp"
#include "vgpu/model/warp.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Bits of `yes` where `mask` is set, bits of `no` elsewhere.
inline Mask blend(Mask mask, Mask yes, Mask no) { return (yes & mask) | (no & ~mask); }

/// How the result is combined with a third operand c (.and, .or, .xor), and the form of the
/// destination. Stored in Instr::imm.
struct Combination {
  enum class With : std::uint8_t { conjunction, disjunction, exclusion };
  With with = With::conjunction;
  bool used = false;        // there is a third operand c
  bool negated = false;     // !c
  bool pair = false;        // setp: p|q
  bool values = false;      // set: the destination is a row of numbers, not predicates
  bool narrow = false;      // set: the destination is 16 bits wide
  std::uint32_t truth = 0;  // set: the value written if the comparison holds

  Combination() = default;
  explicit Combination(std::uint64_t imm)
      : with(static_cast<With>(imm & 3)),
        used((imm & 4) != 0),
        negated((imm & 8) != 0),
        pair((imm & 16) != 0),
        values((imm & 64) != 0),
        narrow((imm & 32) != 0),
        truth(static_cast<std::uint32_t>(imm >> 32)) {}

  std::uint64_t imm() const {
    return static_cast<std::uint64_t>(with) | (used ? 4u : 0u) | (negated ? 8u : 0u) |
           (pair ? 16u : 0u) | (narrow ? 32u : 0u) | (values ? 64u : 0u) |
           (std::uint64_t{truth} << 32);
  }

  Mask apply(Mask holds, Mask c) const {
    if (!used) return holds;
    const Mask other = negated ? ~c : c;
    if (with == With::conjunction) return holds & other;
    return with == With::disjunction ? holds | other : holds ^ other;
  }

  /// The index of the row of a. The rows of b and c follow.
  int sources() const { return pair ? 2 : 1; }

  /// Writes the destinations of the active lanes. `holds`: lanes for which the comparison is true.
  void write(Warp& warp, const Instr& instr, Mask holds) const;
  static void write_predicate(Warp& warp, std::uint32_t row, Mask holds) {
    Mask& p = warp.predicate(row);
    p = blend(warp.mask, holds, p);
  }
  /// Writes `truth` or 0.
  void write_values(Warp& warp, std::uint32_t row, Mask holds) const;
};

template <class T>
std::vector<ptx::Type> operands_of_comparison() {
  return {ptx::Type::pred, ptx_type<T>(), ptx_type<T>()};
}

class OpTable;
/// Returns setp or set with its combination; nullopt if the table lacks the comparison.
std::optional<OpSpec> comparison(const OpTable& table, const ptx::Instruction& instruction);

}  // namespace rung::vgpu
