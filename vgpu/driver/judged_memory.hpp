#pragma once
// For a program that judges other code of its process, as the harness of rung.referee does: memory that this
// code must not write or must not read, how much of the device's memory the host could see, and how many streams,
// events and graphs exist.

#include <cstdint>

namespace rung::vgpu {

enum class MemoryRule : std::uint8_t {
  none,
  read_only,      // kernels, copies and fills that write it fail
  without_value,  // all bytes are 0xFF and count as unwritten
};

/// Sets the rule of the allocation that contains the address, in the current context. Returns false without such an
/// allocation.
bool set_memory_rule(std::uint64_t address, MemoryRule rule);

/// Bytes that copies have taken to memory of the host since the last call, plus bytes of pinned, registered and
/// managed memory that was allocated since then, plus bytes of such memory that is allocated now.
std::uint64_t take_host_visible_bytes();

/// Streams, events and graphs that the current context has.
std::uint64_t live_objects();

}  // namespace rung::vgpu
