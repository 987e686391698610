#pragma once
// Reads the memory instructions out of the machine code that ptxas writes.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rung::vgpu {

/// The memory instructions of a kernel: bytes of a lane, in the order of the code.
struct MemoryInstructions {
  std::vector<int> shared_loads, shared_stores, global_loads, global_stores;
};

/// By kernel. `elf` is the file that ptxas writes, for compute capabilities 7.0 to 9.0: 64-bit ELF
/// with a section .text.NAME for each kernel, and instructions of 128 bits (NVIDIA documents
/// neither the operation codes nor the place of the width: they were read off nvdisasm's output).
std::map<std::string, MemoryInstructions> memory_instructions(const std::vector<std::uint8_t>& elf);

}  // namespace rung::vgpu
