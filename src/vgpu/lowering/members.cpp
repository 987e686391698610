// Warp-wide instructions wait for the lanes that their member mask names.

#include "vgpu/engine/warp/rendezvous.hpp"
#include "vgpu/lowering/lowering.hpp"

namespace rung::vgpu {

/// Just before the instruction, the last of whose rows is the mask. Under a guard it waits for no
/// lane.
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
  slots_.clear();  // others may run in between: shapes of addresses are found anew
}

}  // namespace rung::vgpu
