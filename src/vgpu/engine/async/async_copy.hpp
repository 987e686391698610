#pragma once
// cp.async: copies from global to shared memory that are in flight until they are waited for.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "vgpu/model/kernel.hpp"

namespace rung::vgpu {

struct AsyncCopy {
  std::uint64_t to;  // address of this process
  std::uint32_t shared_offset;
  std::uint32_t bytes;  // 4, 8 or 16
  int thread;
  std::array<std::byte, 16> data;  // as read when the copy was issued, and zeros
};

/// Of one warp, whose lanes commit and wait together. Data arrive in shared memory when they are
/// waited for and no sooner: a kernel that forgets to wait sees that they have not come.
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
