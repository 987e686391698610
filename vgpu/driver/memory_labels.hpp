#pragma once
// Names that a program itself gives to memory, such as the labels of Metal's buffers.

#include <cstdint>
#include <string>

namespace rung::vgpu {

/// The name of the allocation that begins at `address`; empty if it has none.
using MemoryLabel = std::string (*)(std::uint64_t address);

/// Reports of unordered operations name memory by its label, if it has one, before its variable.
void set_memory_label(MemoryLabel label);

}  // namespace rung::vgpu
