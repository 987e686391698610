#pragma once
// Static analysis of the low bits of values, to find the alignment of addresses.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The low `count` bits of a value equal those of `value`; the others are unknown.
struct LowBits {
  int count = 0;
  std::uint64_t value = 0;  // below 2^count

  bool operator==(const LowBits&) const = default;
};

/// Where a shared array begins in a block's shared memory, in bytes; nothing for other symbols.
using SharedOffset = std::function<std::optional<std::uint64_t>(std::string_view symbol)>;

/// For each register, the bits that all its values have in common.
std::vector<LowBits> low_bits(const ptx::Function& function, const SharedOffset& shared_offset);

}  // namespace rung::vgpu
