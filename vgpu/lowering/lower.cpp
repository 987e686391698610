#include "vgpu/lowering/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "vgpu/engine/arithmetic/arithmetic.hpp"
#include "vgpu/engine/control/cluster_ops.hpp"
#include "vgpu/engine/control/guard.hpp"
#include "vgpu/lowering/lowering.hpp"
#include "vgpu/lowering/operand_rules.hpp"
#include "vgpu/lowering/passes.hpp"
#include "vgpu/program/instruction_error.hpp"
#include "vgpu/program/liveness.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/program/shared_layout.hpp"
#include "vgpu/program/unused_loads.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

// Maximum sizes that a kernel can declare, in bytes (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"). Shared memory also has the device's limit, which the
// launch checks.
constexpr std::uint64_t max_local = std::uint64_t{512} << 10;  // per thread
constexpr std::uint64_t max_shared = std::uint64_t{1} << 24;
constexpr std::uint64_t max_parameters = 32764;
constexpr int max_registers = 255;  // per thread; ptxas would spill more

using ptx::Opcode;
using ptx::Space;
using ptx::Type;

// Basic blocks have separate slots, so that shapes stay valid until the block runs again. Kernels
// with more slots start again at slot 0.
constexpr std::uint32_t max_kept_slots = 128;

std::uint32_t aligned(std::uint32_t offset, int align) {
  const auto step = static_cast<std::uint32_t>(std::max(align, 1));
  return (offset + step - 1) / step * step;
}

bool reads_clock(const ptx::Instruction& instruction) {
  return instruction.opcode == Opcode::mov && instruction.operands.size() == 2 &&
         instruction.operands[1].kind == ptx::Operand::Kind::special &&
         instruction.operands[1].name.starts_with("clock");
}

}  // namespace

Lowering::Lowering(const ptx::Module& module, const ptx::Function& function, std::string_view name,
                   const SymbolAddress& symbol_address, bool tracks_loads)
    : module_(module),
      function_(function),
      name_(name),
      symbol_address_(symbol_address),
      kernel_(std::make_unique<Kernel>()) {
  kernel_->tracks_loads = tracks_loads;
}

void Lowering::fail(const Instruction& instruction, std::string_view message) const {
  fail_at(module_, name_, instruction, message);
}

std::unique_ptr<Kernel> Lowering::run() {
  cfg_ = control_flow(function_);
  const Liveness liveness = live_registers(function_, cfg_);
  allocation_ = allocate_rows(function_, cfg_, liveness);
  origins_ = trace_pointers(module_, function_);
  rows_ = std::make_unique<Rows>(*kernel_, allocation_.frame_bytes);
  kernel_->info.registers = std::min(liveness.max_pressure, max_registers);
  place_variables();
  describe_kernel();
  add_sites();
  copied_ = copied_loads(function_);
  used_.resize(function_.registers.size());
  for (const Instruction& instruction : function_.body) {
    for_each_use(instruction, [&](int reg) { used_[static_cast<std::size_t>(reg)] = true; });
  }
  kernel_->unused_loads = unused_loads(function_);
  find_undefined();
  find_wgmma_uses();
  find_speculated(liveness);
  for (std::size_t i = 0; i < cfg_.blocks.size(); ++i) lower_block(i, liveness.out[i]);
  for (Instr& instr : kernel_->code) {
    if (instr.rows == nullptr) instr.rows = instr.row.data();
  }
  kernel_->frame_bytes = rows_->end();
  return std::move(kernel_);
}

void Lowering::lower_block(std::size_t index, const RegisterSet& live_out) {
  const CfgBlock& source = cfg_.blocks[index];
  kernel_->blocks.emplace_back();
  BasicBlock& block = kernel_->blocks.back();
  block.first = static_cast<std::uint32_t>(kernel_->code.size());
  block.instructions = static_cast<std::uint32_t>(source.count);
  block.post_dominator = source.immediate_post_dominator;
  behind_block_ = static_cast<std::uint32_t>(source.first + source.count);
  slots_.clear();
  if (slots_used_ > max_kept_slots) slots_used_ = 0;
  for (std::size_t i = source.first; i < source.first + source.count; ++i) {
    const Instruction& instruction = function_.body[i];
    site_ = static_cast<std::uint32_t>(i);
    follow_undefined(instruction);
    report_wgmma_use();
    observe_deferred();
    if (ends_block(instruction) && instruction.opcode != Opcode::trap) break;
    lower_instruction(instruction);
    take_back_undefined_stores(instruction);
    block.suspends = may_suspend(instruction);
    for_each_definition(instruction, [&](int reg) { slots_.erase(reg); });
  }
  block.count = static_cast<std::uint32_t>(kernel_->code.size()) - block.first;
  mark_issued(source);
  find_last_uses(std::span(kernel_->code).subspan(block.first), function_, source, live_out,
                 allocation_.offset);
  if (!kernel_->tracks_loads) {
    form_superinstructions(*kernel_, block, function_, allocation_.offset);
  }
  lower_end(block, source);
}

void Lowering::lower_end(BasicBlock& block, const CfgBlock& source) {
  using End = BasicBlock::End;
  const std::size_t last = source.first + source.count - 1;
  const Instruction& instruction = function_.body[last];
  block.end_site = static_cast<std::uint32_t>(last);
  block.meets = source.call_returns_to >= 0 && !instruction.has("recursive");
  const bool guarded = instruction.guard >= 0 && ends_block(instruction);
  if (guarded) {
    block.guard = register_row(instruction.guard);
    block.guard_negated = instruction.guard_negated;
  }
  if (instruction.opcode == Opcode::brx) {
    block.end = End::indirect;
    block.guard = row_of(instruction, instruction.operands.at(0), Type::u32);
    block.targets = source.successors;
    if (guarded || std::count(block.targets.begin(), block.targets.end(), to_exit) != 0) {
      fail(instruction, "under a guard, or to the end of the kernel, is not supported");
    }
    return;
  }
  if (!guarded) {
    block.next = source.successors.empty() ? to_exit : source.successors[0];
    block.taken = block.next;
    block.end = block.next == to_exit ? End::exit : block.meets ? End::jump : End::next;
    return;
  }
  block.taken = source.successors.at(0);
  block.next = source.successors.at(1);
  if (block.taken == block.next) {
    block.end = block.next == to_exit ? End::exit : End::next;
  } else if (block.taken == to_exit || block.next == to_exit) {
    block.end = End::exit_if;
    if (block.next == to_exit) {
      block.guard_negated = !block.guard_negated;
      block.next = block.taken;
    }
  } else {
    block.end = End::branch;
  }
}

void Lowering::place_variables() {
  shared_layout_ = shared_layout(module_, function_);
  std::uint64_t local = 0;
  for (const auto* variables : {&module_.variables, &function_.variables}) {
    for (const ptx::Variable& variable : *variables) {
      if (variable.space == Space::shared) place_shared(variable);
      if (variable.space != Space::local && variable.space != Space::param) continue;
      const auto align = static_cast<std::uint64_t>(variable.align);
      local = (local + align - 1) / align * align;
      local_offsets_[variable.name] = static_cast<std::uint32_t>(local);
      local += static_cast<std::uint64_t>(variable.bytes());
      require_room("local memory", variable, local, max_local);
    }
  }
  kernel_->local_bytes = aligned(static_cast<std::uint32_t>(local), 16);
  kernel_->info.static_shared = kernel_->static_shared;
  kernel_->info.local = kernel_->local_bytes;
  merge_ = std::make_unique<MergeModel>(function_, [this](std::string_view symbol) {
    const auto found = shared_layout_.find(std::string(symbol));
    return found == shared_layout_.end() ? std::optional<std::uint64_t>()
                                         : std::optional<std::uint64_t>(found->second);
  });
}

/// Throws if variables of one kind, including this one, exceed the limit.
void Lowering::require_room(std::string_view what, const ptx::Variable& variable,
                            std::uint64_t bytes, std::uint64_t most) const {
  if (bytes <= most) return;
  throw std::invalid_argument(fmt::format("{}:{}: {} bytes of {} up to '{}': at most {}", name_,
                                          variable.line, bytes, what, variable.name, most));
}

/// Places a shared array, if the kernel uses it. The array without a size, whose size the launch
/// sets, comes last; everything before it is the static size.
void Lowering::place_shared(const ptx::Variable& variable) {
  const auto found = shared_layout_.find(variable.name);
  if (found == shared_layout_.end()) return;
  require_room("shared memory", variable,
               found->second + static_cast<std::uint64_t>(variable.bytes()), max_shared);
  const auto offset = static_cast<std::uint32_t>(found->second);
  const auto bytes = static_cast<std::uint32_t>(variable.bytes());
  shared_offsets_[variable.name] = offset;
  kernel_->shared_arrays.push_back({variable.name, offset, bytes, bytes == 0});
  kernel_->static_shared = std::max(kernel_->static_shared, offset + bytes);
}

void Lowering::describe_kernel() {
  KernelInfo& info = kernel_->info;
  info.name = function_.name;
  std::uint32_t offset = 0;
  for (const ptx::Variable& parameter : function_.parameters) {
    const int natural = ptx::size_of(parameter.type) * parameter.vector;
    offset = aligned(offset, std::max(parameter.align, natural));
    parameter_offsets_[parameter.name] = offset;
    require_room("parameters", parameter, offset + static_cast<std::uint64_t>(parameter.bytes()),
                 max_parameters);
    const auto bytes = static_cast<std::uint32_t>(parameter.bytes());
    info.parameters.push_back({offset, bytes});
    offset += bytes;
  }
  info.parameter_bytes = offset;
  std::copy(std::begin(function_.required_threads), std::end(function_.required_threads),
            std::begin(info.required_threads));
  std::copy(std::begin(function_.required_cluster), std::end(function_.required_cluster),
            std::begin(info.required_cluster));
  for (const std::int64_t* threads : {function_.max_threads, function_.required_threads}) {
    if (threads[0] == 0) continue;
    std::int64_t product = 1;
    for (int i = 0; i < 3; ++i) product *= std::max<std::int64_t>(threads[i], 1);
    info.max_threads = static_cast<int>(std::min<std::int64_t>(product, 1024));
  }
}

/// Lowers an instruction whose operands are registers or constants. If a register is wider than the
/// instruction's type, its value is truncated or extended first.
void Lowering::lower_registers(const Instruction& instruction, const OpSpec& spec) {
  std::vector<const Operand*> operands = flattened(instruction);
  if (instruction.is(Opcode::bar, Opcode::barrier) && instruction.has("red")) {
    // PTX lists the predicate last; the handler expects it in the second row.
    std::rotate(operands.begin() + 1, operands.end() - 1, operands.end());
  }
  std::vector<std::uint32_t> rows;
  std::vector<Instr> after;
  std::size_t scratch = 1;
  Native native = native_operation(instruction);
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const Operand& operand = *operands[i];
    const Type type = spec.operands[i];
    const bool destination = i < static_cast<std::size_t>(spec.destinations);
    if (operand.kind == Operand::Kind::sink) {
      rows.push_back(scratch_row(scratch++));
    } else if (operand.kind != Operand::Kind::reg) {
      rows.push_back(source_row(instruction, operand, type));
    } else if (register_bytes(operand.reg) == row_bytes(type)) {
      rows.push_back(register_row(operand.reg));
    } else {
      const std::uint32_t between = scratch_row(scratch++);
      native = {};
      const int wide = register_bytes(operand.reg);
      const int narrow = row_bytes(type);
      Instr resize{};
      const Handler handler = destination ? resize_handler(wide, narrow, ptx::is_signed(type))
                                          : resize_handler(narrow, wide, false);
      if (handler == nullptr || wide < narrow) {
        row_of(instruction, operand, type);  // throws
      }
      resize.full = resize.masked = handler;
      set_rows(resize, destination
                           ? std::vector<std::uint32_t>{register_row(operand.reg), between}
                           : std::vector<std::uint32_t>{between, register_row(operand.reg)});
      if (destination) {
        after.push_back(resize);
      } else {
        emit(resize);
      }
      rows.push_back(between);
    }
  }
  Instr instr{};
  instr.full = spec.full;
  instr.masked = spec.masked;
  instr.imm = reads_clock(instruction) ? behind_block_ - site_ : spec.imm;
  instr.native = native;
  wait_for_members(instruction, rows);
  set_rows(instr, std::move(rows));
  emit(instr);
  for (const Instr& resize : after) emit(resize);
}

/// Truncates an address in a wider register to the bits of shared memory addresses: it may be a
/// generic address (PTX ISA, "Addresses as Operands").
void Lowering::take_low_half(MemoryOp& op) {
  Instr narrow{};
  narrow.full = narrow.masked = resize_handler(4, 8, false);
  const std::uint32_t low = rows_->scratch();
  set_rows(narrow, {low, op.address_row});
  emit(narrow);
  op.address_row = low;
  op.address_bytes = 4;
}

void Lowering::lower_instruction(const Instruction& instruction) {
  if (instruction.opcode == Opcode::griddepcontrol && ptx::target_of(module_).capability < 90) {
    fail(instruction, fmt::format("is for sm_90 and up, the text for {}", module_.target));
  }
  if (instruction.opcode == Opcode::call) {
    lower_call(instruction);
  } else if (lower_wide_move(instruction) || lower_even_block(instruction)) {
    return;
  } else if (lower_memory(instruction)) {
    return;
  } else if (const auto spec = register_operation(instruction)) {
    lower_registers(instruction, *spec);
    if (cluster_instruction(instruction)) {
      kernel_->asynchronous = true;
      // Any access may use a generic address.
      kernel_->reaches_other_blocks |=
          instruction.opcode == Opcode::mapa && !instruction.has("shared::cluster");
    } else if (instruction.is(Opcode::membar, Opcode::fence)) {
      kernel_->synchronises_blocks = true;
    }
  } else {
    fail(instruction, "is not known to the virtual GPU");
  }
}

std::unique_ptr<Kernel> lower(const ptx::Module& module, const ptx::Function& entry,
                              std::string_view name, const SymbolAddress& symbol_address,
                              bool tracks_loads) {
  return Lowering(module, entry, name, symbol_address, tracks_loads).run();
}

}  // namespace rung::vgpu
