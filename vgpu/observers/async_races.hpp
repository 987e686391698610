#pragma once
// Races of bulk copies, wgmma and remote accesses in shared memory.

#include <cstdint>
#include <span>

#include "vgpu/engine/observers.hpp"

namespace rung::vgpu {

// Call before an asynchronous operation, or a thread of another block, reads these ranges or writes
// [offset, offset + bytes). Reports earlier accesses that are not ordered before it or, unless
// `generic`, not made visible by a proxy fence; only the first error in each range.
void check_async_read(const AsyncAccess& access, std::span<const AsyncRange> ranges, bool generic);
void check_async_write(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes);
// Call afterwards, to record the operation.
void note_async_read(const AsyncAccess& access, std::span<const AsyncRange> ranges, int slot,
                     std::uint32_t read);
void note_async_write(const AsyncAccess& access, std::uint32_t offset, std::uint32_t bytes,
                      std::uint32_t write);

/// Called when an ordinary access finds a pending stamp at this offset of its own block. Returns
/// false, after a report, if the asynchronous operations there are not ordered before it. `what`:
/// "read", "write", "atomic".
bool check_against_async(Block& block, int thread, std::uint32_t site, const char* what,
                         std::uint32_t offset);

}  // namespace rung::vgpu
