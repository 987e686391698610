// Makes warp-wide instructions wait for the lanes named in their member mask.

#include "vgpu/engine/warp/rendezvous.hpp"
#include "vgpu/lowering/lowering.hpp"

namespace rung::vgpu {

/// Call immediately before emitting the instruction, whose last row is the mask. Guarded
/// instructions do not wait.
void Lowering::wait_for_members(const Instruction& instruction,
                                const std::vector<std::uint32_t>& rows) {
  if (!instruction.has(ptx::Fact::member_mask) || !instruction.has("sync")) return;
  if (instruction.guard >= 0) return;
  Instr wait{};
  wait.full = all_members_here;
  wait.masked = rung::vgpu::wait_for_members;
  set_rows(wait, {rows.back()});
  emit(wait);
  kernel_->blocks.back().exchanges = true;
  // Other lanes may run in between, so shapes of addresses must be computed again.
  slots_.clear();
}

}  // namespace rung::vgpu
