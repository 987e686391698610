#pragma once
// cp.async: copies from global to shared memory, which are in flight until they are waited for.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

struct AsyncCopy {
  std::uint64_t to;  // address in this process
  std::uint32_t shared_offset;
  std::uint32_t bytes;  // 4, 8 or 16
  int thread;
  std::array<std::byte, 16> data;  // as read when the copy was issued, and zeros
};

/// The copies of one warp, whose lanes commit and wait together. Data arrive in shared memory only
/// when they are waited for, so that a missing wait reads stale data.
struct AsyncCopies {
  std::vector<AsyncCopy> open;                // not yet committed
  std::deque<std::vector<AsyncCopy>> groups;  // oldest first
};

/// Instr::imm points at an AsyncCopyOp.
void run_async_copy(Warp& warp, const Instr& instr);
void commit_async_group(Warp& warp, const Instr& instr);
/// Waits until at most Instr::imm groups are in flight.
void wait_async_groups(Warp& warp, const Instr& instr);
/// Waits for everything, committed or not.
void wait_async_all(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
