#pragma once
// The layout of a warp's frame.

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "vgpu/model/kernel.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// Bytes per lane of a row for this type: 2, 4 or 8, or 0 for a predicate. 8-bit types have 16-bit
/// rows.
int row_bytes(ptx::Type type);

/// Allocates the rows after those of the registers: constants and special registers, each once, and
/// rows that are never read.
class Rows {
 public:
  Rows(Kernel& kernel, std::uint32_t first_free);

  std::uint32_t constant(int bytes, std::uint64_t bits);
  std::uint32_t special(Special special, int bytes);
  /// Allocates a row of eight bytes per lane.
  std::uint32_t scratch();
  /// The size of the frame in bytes.
  std::uint32_t end() const { return next_; }

 private:
  std::uint32_t take(int bytes);

  Kernel& kernel_;
  std::uint32_t next_;
  std::map<std::pair<int, std::uint64_t>, std::uint32_t> constants_;
  std::map<std::pair<Special, int>, std::uint32_t> specials_;
};

/// The bits of an immediate operand as a constant of this type.
std::uint64_t immediate_bits(const ptx::Operand& operand, ptx::Type type);

/// The special register with that name ("tid.x"); nullopt if the engine does not support it.
std::optional<Special> special_named(std::string_view name);

}  // namespace rung::vgpu
