#pragma once
// Static analysis of the low bits of values, used to determine the alignment of addresses.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The low `count` bits of a value equal those of `value`. The other bits are unknown.
struct LowBits {
  int count = 0;
  std::uint64_t value = 0;  // below 2^count

  bool operator==(const LowBits&) const = default;
};

/// Offset of a shared array in a block's shared memory, in bytes; nullopt for other symbols.
using SharedOffset = std::function<std::optional<std::uint64_t>(std::string_view symbol)>;

/// For each register, the low bits common to all its values.
std::vector<LowBits> low_bits(const ptx::Function& function, const SharedOffset& shared_offset);

}  // namespace rung::vgpu
