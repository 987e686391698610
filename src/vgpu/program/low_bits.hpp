#pragma once
// What can be told of a value's low bits without running the kernel: how addresses are aligned.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The low `count` bits of a value are those of `value`; nothing is known of the others.
struct LowBits {
  int count = 0;
  std::uint64_t value = 0;  // below 2^count

  bool operator==(const LowBits&) const = default;
};

/// Where a shared array begins in a block's shared memory, in bytes; nothing for other symbols.
using SharedOffset = std::function<std::optional<std::uint64_t>(std::string_view symbol)>;

/// By register: what holds of every value that it ever has.
std::vector<LowBits> low_bits(const ptx::Function& function, const SharedOffset& shared_offset);

}  // namespace rung::vgpu
