#pragma once
// Addresses of shared memory as sums of registers and a constant, for comparisons.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/program/low_bits.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// A value of a register: the register, and the number of earlier writes to it in the basic block.
using RegisterValue = std::pair<int, int>;

struct LinearAddress {
  std::vector<RegisterValue> terms;  // sorted, so equal sums have equal terms
  std::int64_t constant = 0;         // bytes, including the offsets of shared arrays
  LowBits low;                       // of the sum of the terms, excluding the constant
};

/// Traces the registers of a function back to the definitions of their values.
class Addresses {
 public:
  Addresses(const ptx::Function& function, SharedOffset shared_offset);

  /// The value of the address operand [base + offset] of instruction `at`, in the basic block that
  /// starts at instruction `first`.
  LinearAddress of(const ptx::Operand& operand, std::size_t at, std::size_t first) const;

 private:
  struct Sum {
    std::vector<RegisterValue> terms;
    std::int64_t constant = 0;
  };
  /// The instruction at which a value is read, and the number of further definitions that may be
  /// followed.
  struct View {
    std::size_t at, first;
    int depth;
  };
  Sum sum_of(int reg, View view) const;
  std::optional<Sum> definition(std::size_t at, View view) const;
  std::optional<Sum> sum_of(const ptx::Operand& operand, View view) const;
  bool keeps_its_value(int reg) const;

  const ptx::Function& function_;
  SharedOffset shared_offset_;
  std::vector<std::vector<std::size_t>> definitions_;  // by register: instructions
  std::vector<LowBits> low_bits_;
};

}  // namespace rung::vgpu
