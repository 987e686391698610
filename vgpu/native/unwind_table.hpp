#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rung::vgpu::native {

/// During its lifetime, allows exceptions of called functions to pass through machine code: it
/// describes the caller's frame to the unwinder. The frame must have the same size at every call.
class UnwindTable {
 public:
  /// `pushed`: the registers that the code pushes first, in this order, by their DWARF numbers
  /// (System V ABI for x86-64, figure 3.36). `frame_bytes`: from the stack pointer to the end of
  /// the return address, below 128.
  UnwindTable(std::span<const std::uint8_t> code, std::span<const std::uint8_t> pushed,
              std::uint8_t frame_bytes);
  ~UnwindTable();
  UnwindTable(const UnwindTable&) = delete;
  UnwindTable& operator=(const UnwindTable&) = delete;

 private:
  std::vector<std::uint8_t> table_;
};

}  // namespace rung::vgpu::native
