#pragma once
// Extracts the memory instructions from machine code written by ptxas.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rung::vgpu {

/// The memory instructions of a kernel: bytes per lane, in the order of the code.
struct MemoryInstructions {
  std::vector<int> shared_loads, shared_stores, global_loads, global_stores;
};

/// The memory instructions by kernel. `elf`: a file written by ptxas for compute capabilities 7.0
/// to 9.0: 64-bit ELF with a section .text.NAME for each kernel, and 128-bit instructions. (NVIDIA
/// documents neither the opcodes nor the position of the width; both were read from the output of
/// nvdisasm.)
std::map<std::string, MemoryInstructions> memory_instructions(const std::vector<std::uint8_t>& elf);

}  // namespace rung::vgpu
