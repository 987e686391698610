#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rung::vgpu::native {

/// Lets exceptions of what machine code calls pass through it, as long as this object lives: tells the
/// unwinder where the caller's frame is. It has to be in the same place wherever the code calls.
class UnwindTable {
 public:
  /// `pushed`: the registers that the code pushes first, by DWARF's numbers (System V ABI for x86-64,
  /// figure 3.36), in this order. `frame_bytes`, below 128: from the stack pointer to the end of the
  /// return address.
  UnwindTable(std::span<const std::uint8_t> code, std::span<const std::uint8_t> pushed,
              std::uint8_t frame_bytes);
  ~UnwindTable();
  UnwindTable(const UnwindTable&) = delete;
  UnwindTable& operator=(const UnwindTable&) = delete;

 private:
  std::vector<std::uint8_t> table_;
};

}  // namespace rung::vgpu::native
