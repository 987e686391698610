#pragma once
// The state of lowering one kernel. lower.cpp drives it. Each other file handles one kind of
// instructions, or one kind of checks (sites.cpp, undefined.cpp).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/lowering/lower.hpp"
#include "vgpu/model/kernel.hpp"
#include "vgpu/program/allocation.hpp"
#include "vgpu/program/cfg.hpp"
#include "vgpu/program/copied_loads.hpp"
#include "vgpu/program/merge.hpp"
#include "vgpu/program/provenance.hpp"
#include "vgpu/program/rows.hpp"
#include "vgpu/program/speculation.hpp"
#include "vgpu/program/undefined_reads.hpp"
#include "vgpu/program/wgmma_registers.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

struct AsyncAddress;
struct UndefinedPart;
struct WmmaAccess;

class Lowering {
 public:
  Lowering(const ptx::Module& module, const ptx::Function& function, std::string_view name,
           const SymbolAddress& symbol_address, bool tracks_loads);

  std::unique_ptr<Kernel> run();

 private:
  using Instruction = ptx::Instruction;
  using Operand = ptx::Operand;

  [[noreturn]] void fail(const Instruction& instruction, std::string_view message) const;

  // lower.cpp
  void place_variables();
  void place_shared(const ptx::Variable& variable);
  void require_room(std::string_view what, const ptx::Variable& variable, std::uint64_t bytes,
                    std::uint64_t most) const;
  void describe_kernel();
  void lower_block(std::size_t index, const RegisterSet& live_out);
  void lower_end(BasicBlock& block, const CfgBlock& source);
  void lower_instruction(const Instruction& instruction);
  void lower_registers(const Instruction& instruction, const OpSpec& spec);
  void emit(Instr instr);
  void emit_unguarded(Handler handler, std::uint64_t imm, std::vector<std::uint32_t> rows);
  void emit(Handler handler, std::uint64_t imm, std::vector<std::uint32_t> rows);
  std::vector<const Operand*> flattened(const Instruction& instruction) const;
  std::uint32_t row_of(const Instruction& instruction, const Operand& operand, ptx::Type type);
  std::uint32_t source_row(const Instruction& instruction, const Operand& operand, ptx::Type type);
  std::uint32_t register_row(int reg) const;
  int register_bytes(int reg) const;
  std::uint64_t address_of(const Instruction& instruction, const std::string& symbol) const;
  std::uint32_t scratch_row(std::size_t index);
  void set_rows(Instr& instr, std::vector<std::uint32_t> rows);

  // lowering/sites.cpp
  void add_sites();
  Site site_of(const Instruction& instruction) const;

  // lowering/memory.cpp
  bool lower_memory(const Instruction& instruction);
  bool lower_copy(const Instruction& instruction);
  void lower_load(const Instruction& instruction);
  bool is_in_parameters(const MemoryOp& op) const;
  void lower_store(const Instruction& instruction);
  bool is_used(const Operand& destination) const;
  void lower_atomic(const Instruction& instruction);
  void take_low_half(MemoryOp& op);
  void lower_matrix_memory(const Instruction& instruction);
  std::vector<std::uint32_t> fragment_rows(const Operand& fragment);
  MemoryOp memory_op(const Instruction& instruction, const Operand& address, ptx::Space space);
  Origin origin(const Operand& address) const;
  void note_access(const MemoryOp& op, bool writes);
  void give_slot(const Instruction& instruction, const Operand& address, MemoryOp& op);
  std::uint64_t keep(const MemoryOp& op);
  void mark_issued(const CfgBlock& block);

  // lowering/wmma.cpp
  struct WmmaMove;
  void lower_wmma_memory(const Instruction& instruction);
  std::vector<std::uint32_t> emit_wmma_addresses(const Instruction& instruction,
                                                 const WmmaMove& move);
  void emit_wmma_load(const WmmaMove& move, const WmmaAccess& access, const MemoryOp& op);
  void emit_wmma_store(const WmmaMove& move, const WmmaAccess& access, const MemoryOp& op);

  // lowering/undefined.cpp
  void find_undefined();
  bool values_matter(const Instruction& instruction) const;
  std::string source_text(int source) const;
  void follow_undefined(const Instruction& instruction);
  void take_back_undefined_stores(const Instruction& instruction);
  bool copies_from_shared(const Instruction& instruction) const;
  void follow_in_shared(Handler handler, const Instruction& instruction, const Operand& values,
                        const Operand& address);
  void report_undefined_use(int reg, bool under_guard, int bytes);
  void shadow_results(const Instruction& instruction);
  void shadow_all(const Instruction& instruction);
  void shadow_move(const Instruction& instruction);
  void shadow_halves(const Instruction& instruction);
  void shadow_shift(const Instruction& instruction);
  void shadow_insertion(const Instruction& instruction);
  void shadow_bytes(const Instruction& instruction);
  void shadow_part(int to, const Operand& from, UndefinedPart part);
  void shadow_logic(const Instruction& instruction);
  void shadow_shuffle(const Instruction& instruction);
  std::uint32_t shadow_row(const Operand& operand);

  // lowering/members.cpp
  void wait_for_members(const Instruction& instruction, const std::vector<std::uint32_t>& rows);

  // lowering/speculation.cpp
  void find_speculated(const Liveness& liveness);
  void defer_observation(MemoryOp& op);
  void observe_deferred();

  // lowering/async.cpp
  void lower_async_copy(const Instruction& instruction);
  void lower_mbarrier(const Instruction& instruction);
  void lower_copy_arrival(const Instruction& instruction);
  void lower_bulk_copy(const Instruction& instruction);
  void lower_launch_control(const Instruction& instruction);
  bool lower_wide_move(const Instruction& instruction);
  void lower_cluster_access(const Instruction& instruction, const MemoryOp& op, int row_bytes,
                            std::vector<std::uint32_t> rows);
  AsyncAddress async_address(const Instruction& instruction, const Operand& operand);

  // lowering/wgmma.cpp
  void find_wgmma_uses();
  void report_wgmma_use();
  void lower_wgmma(const Instruction& instruction);

  // lowering/narrow_multiply.cpp
  bool lower_narrow_multiply(const Instruction& instruction);
  bool lower_sparse_multiply(const Instruction& instruction);

  // lowering/tcgen05.cpp
  void lower_tcgen05(const Instruction& instruction);
  void lower_tensor_allocation(const Instruction& instruction);
  void lower_tensor_access(const Instruction& instruction);
  void lower_tensor_multiply(const Instruction& instruction);
  void lower_tensor_copy(const Instruction& instruction);
  void lower_tensor_commit(const Instruction& instruction);
  bool lower_even_block(const Instruction& instruction);

  /// Stores the object that Instr::imm points at in the kernel.
  template <class Op>
  std::uint64_t keep_op(const Op& op) {
    auto kept = std::make_shared<const Op>(op);
    kernel_->async_ops.push_back(kept);
    return imm_to(*kept);
  }
  /// Also marks the kernel as asynchronous.
  template <class Op>
  std::uint64_t keep_async(const Op& op) {
    kernel_->asynchronous = true;
    return keep_op(op);
  }

  // lowering/calls.cpp
  void lower_call(const Instruction& instruction);
  std::uint32_t passed_at(const Instruction& instruction, const Operand& element,
                          std::uint32_t bytes) const;

  const ptx::Module& module_;
  const ptx::Function& function_;
  std::string_view name_;
  const SymbolAddress& symbol_address_;
  std::unique_ptr<Kernel> kernel_;
  Cfg cfg_;
  RowAllocation allocation_;
  std::vector<PointerOrigin> origins_;
  std::unique_ptr<Rows> rows_;
  std::vector<std::uint32_t> scratch_;
  std::map<std::string, std::uint32_t, std::less<>> shared_offsets_, local_offsets_,
      parameter_offsets_;
  std::map<int, std::uint8_t> slots_;  // in this block, by address register; -1: none
  std::uint32_t slots_used_ = 0;
  std::map<std::string, std::uint64_t> shared_layout_;
  std::unique_ptr<MergeModel> merge_;
  std::map<std::uint32_t, MemoryOp*> op_of_site_;
  struct UseOfSpeculated {
    std::size_t load;
    SpeculatedUse use;
  };
  CopiedLoads copied_;
  std::vector<bool> used_;  // by register: true if some instruction reads it
  SpeculatedLoads speculated_;
  std::map<std::size_t, std::vector<UseOfSpeculated>> uses_of_speculated_;  // by instruction
  std::map<std::size_t, const MemoryOp*> deferred_;                         // by load
  std::vector<UndefinedRead> undefined_;
  std::vector<WgmmaRegisterUse> wgmma_uses_;
  std::vector<int> undefined_source_;             // by register: undefined_sources()
  std::vector<std::uint32_t> shadow_rows_;        // by register, if it has one
  std::uint32_t guarded_site_ = Kernel::no_site;  // the last site whose guard is counted
  std::uint32_t site_ = 0;                        // index of the current instruction
  bool stores_locally_ = false;                   // true if some instruction stores to local memory
  std::uint32_t behind_block_ = 0;                // site after the current basic block
};

}  // namespace rung::vgpu
