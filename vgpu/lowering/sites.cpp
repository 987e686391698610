// Determines the properties of instructions for reports and counters: line, class and role.

#include <algorithm>

#include "vgpu/engine/matrix/matrix_names.hpp"
#include "vgpu/lowering/lowering.hpp"
#include "vgpu/program/instruction_class.hpp"
#include "vgpu/program/instruction_error.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

/// The first state space is the destination's.
SiteRole role_of_bulk_copy(const ptx::Instruction& instruction) {
  if (instruction.has("prefetch")) return SiteRole::other;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "global") return SiteRole::bulk_store;
    if (modifier.starts_with("shared::")) return SiteRole::bulk_load;
  }
  return SiteRole::other;
}

SiteRole role_of(const ptx::Instruction& instruction) {
  using ptx::Opcode;
  const bool shared = instruction.has("shared") || instruction.has("shared::cta");
  const bool local = instruction.has("local");
  const bool constant = instruction.has("const") || instruction.has("param");
  if (instruction.is_load()) {
    if (constant) return SiteRole::other;
    return local ? SiteRole::local_load : shared ? SiteRole::shared_load : SiteRole::global_load;
  }
  const bool copies = instruction.opcode == Opcode::cp;
  if (copies && instruction.has("bulk")) return role_of_bulk_copy(instruction);
  if (copies && instruction.has("shared") && !instruction.has("mbarrier")) {
    return SiteRole::global_load;
  }
  if (instruction.is_store()) {
    return local ? SiteRole::local_store : shared ? SiteRole::shared_store : SiteRole::global_store;
  }
  if (instruction.is(Opcode::atom, Opcode::red)) {
    return shared ? SiteRole::shared_atomic : SiteRole::global_atomic;
  }
  if (instruction.is(Opcode::fma, Opcode::mad) && instruction.has("f32")) return SiteRole::ffma;
  if (instruction.is(Opcode::bar, Opcode::barrier)) {
    const bool of_block = !instruction.has("warp") && !instruction.has("cluster");
    return of_block ? SiteRole::barrier : SiteRole::other;
  }
  if (instruction.is(Opcode::bra, Opcode::brx)) return SiteRole::branch;
  return SiteRole::other;
}

/// Computes a thread's share of tensor-core work.
void count_matrix_work(const ptx::Instruction& instruction, Site& site) {
  if (site.instr_class != InstrClass::matrix) return;
  const bool wgmma = instruction.opcode == ptx::Opcode::wgmma;
  const std::uint32_t threads = wgmma ? 128 : 32;
  for (const std::string& modifier : instruction.modifiers) {
    const auto shape = read_matrix_shape(modifier);
    if (!shape) continue;
    const auto m = static_cast<std::uint32_t>(shape->m), n = static_cast<std::uint32_t>(shape->n);
    site.multiply_adds = m * n * static_cast<std::uint32_t>(shape->k) / threads;
    if (!wgmma || instruction.operands.size() < 2) return;
    // 32 bytes along k per column of B and, unless A is in registers, per row of A.
    const bool a_in_registers = instruction.operands[1].kind == ptx::Operand::Kind::vector;
    site.wgmma_bytes = (n + (a_in_registers ? 0 : m)) * 32 / threads;
  }
}

}  // namespace

Site Lowering::site_of(const Instruction& instruction) const {
  Site site;
  site.mnemonic = instruction.mnemonic();
  site.ptx_line = instruction.line;
  site.source = instruction.source;
  site.instr_class = classify(instruction);
  site.role = role_of(instruction);
  count_matrix_work(instruction, site);
  site.where = source_of(module_, instruction);
  return site;
}

void Lowering::add_sites() {
  kernel_->files = module_.files;
  for (const Instruction& instruction : function_.body) {
    kernel_->sites.push_back(site_of(instruction));
  }
  kernel_->block_of_site.assign(function_.body.size(), Kernel::no_site);
  for (std::size_t i = 0; i < cfg_.blocks.size(); ++i) {
    const auto& block = cfg_.blocks[i];
    std::fill_n(kernel_->block_of_site.begin() + static_cast<std::ptrdiff_t>(block.first),
                block.count, static_cast<std::uint32_t>(i));
  }
}

}  // namespace rung::vgpu
