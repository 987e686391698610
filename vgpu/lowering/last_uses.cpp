// Determines how long results are needed, so that translated code writes back only what other code
// reads.

#include "vgpu/lowering/passes.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/program/operands.hpp"

namespace rung::vgpu {

void find_last_uses(std::span<Instr> code, const ptx::Function& function, const CfgBlock& block,
                    const RegisterSet& live_out, const std::vector<std::uint32_t>& rows) {
  const auto row_of = [&](int reg) { return rows[static_cast<std::size_t>(reg)]; };
  std::unordered_map<std::uint32_t, std::uint32_t> last_read;  // by row, of its current value
  live_out.for_each([&](int reg) { last_read[row_of(reg)] = Instr::used_later; });
  std::vector<bool> is_executed(block.count, false);
  for (const Instr& instr : code) is_executed[instr.site - block.first] = true;
  std::vector<std::uint32_t> last_use(block.count, Instr::used_later);
  for (std::size_t i = block.count; i-- > 0;) {
    const auto site = static_cast<std::uint32_t>(block.first + i);
    const ptx::Instruction& instruction = function.body[site];
    bool writes = false;
    for_each_definition(instruction, [&](int) { writes = true; });
    // A copy within one row is not executed: the value remains under another register's name.
    if (writes && !is_executed[i]) continue;
    std::uint32_t last = site;
    for_each_definition(instruction, [&](int reg) {
      const auto found = last_read.find(row_of(reg));
      if (found == last_read.end()) return;
      last = std::max(last, found->second);
      // if guarded, other lanes keep their values
      if (instruction.guard < 0) last_read.erase(found);
    });
    if (writes) last_use[i] = last;
    for_each_use(instruction, [&](int reg) { last_read.try_emplace(row_of(reg), site); });
  }
  for (Instr& instr : code) instr.last_use = last_use[instr.site - block.first];
}

}  // namespace rung::vgpu
