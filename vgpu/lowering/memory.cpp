// Lowering of instructions that access memory.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "vgpu/engine/matrix/matrix_memory.hpp"
#include "vgpu/engine/memory/access.hpp"
#include "vgpu/engine/memory/atomics.hpp"
#include "vgpu/lowering/lowering.hpp"
#include "vgpu/lowering/matrix_move_form.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;

std::optional<Space> space_named(std::string_view name) {
  if (name == "global") return Space::global;
  if (name == "shared" || name == "shared::cta" || name == "shared::cluster") return Space::shared;
  if (name == "local") return Space::local;
  if (name == "const") return Space::constant;
  if (name == "param" || name == "param::entry" || name == "param::func") return Space::param;
  return std::nullopt;
}

int vector_length(std::string_view modifier) {
  if (modifier == "v2") return 2;
  if (modifier == "v4") return 4;
  if (modifier == "v8") return 8;
  return 0;
}

/// Modifiers without effect here: all scopes wider than a block are equivalent, and caches are not
/// simulated.
bool is_neutral(std::string_view modifier) {
  static const std::set<std::string_view> known = {
      "nc", "weak", "cluster", "gpu",     "sys",   "ca",         "cg",   "cs",     "cv",
      "lu", "wb",   "wt",      "unified", "noftz", "cache_hint", "sync", "aligned"};
  return known.contains(modifier) || modifier.starts_with("L1::") || modifier.starts_with("L2::");
}

bool is_ordering(std::string_view modifier) {
  return modifier == "volatile" || modifier == "relaxed" || modifier == "acquire" ||
         modifier == "release" || modifier == "acq_rel" || modifier == "mmio";
}

/// The parsed modifiers of a load, store or atomic.
struct Access {
  Space space = Space::generic;
  Type type = Type::none;
  int count = 1;
  bool relaxed = false, releases = false, block_scope = false;
  bool is_vector = false;  // of Metal, which the front end marks by a modifier
  bool acquires = true;    // volatile accesses, and atomics without semantics, do
};

/// Returns nullopt if a modifier is unknown. `others`: modifiers specific to this instruction.
std::optional<Access> access_of(const ptx::Instruction& instruction,
                                const std::set<std::string_view>& others = {}) {
  Access access;
  for (const std::string& modifier : instruction.modifiers) {
    if (const auto space = space_named(modifier)) {
      access.space = *space;
    } else if (const Type type = ptx::type_named(modifier); type != Type::none) {
      access.type = type;
    } else if (const int length = vector_length(modifier)) {
      access.count = length;
    } else if (modifier == "elements") {
      access.is_vector = true;
    } else if (is_ordering(modifier)) {
      access.relaxed = true;
      access.releases = access.releases || modifier == "release" || modifier == "acq_rel";
      if (modifier == "relaxed" || modifier == "release" || modifier == "mmio") {
        access.acquires = false;
      }
    } else if (modifier == "cta") {
      access.block_scope = true;
    } else if (!is_neutral(modifier) && !others.contains(modifier)) {
      return std::nullopt;
    }
  }
  return access;
}

/// The alignment of the elements of Metal's vectors, 0 for other accesses. Words without a type
/// (b32) hold two elements of 16 bits.
std::uint8_t element_alignment(const Access& access) {
  if (!access.is_vector) return 0;
  return access.type == Type::b32 ? 2 : static_cast<std::uint8_t>(ptx::size_of(access.type));
}

}  // namespace

std::uint64_t Lowering::keep(const MemoryOp& op) {
  kernel_->memory_ops.push_back(op);
  op_of_site_[op.site] = &kernel_->memory_ops.back();
  return imm_to(kernel_->memory_ops.back());
}

/// Marks the shared accesses of the block that ptxas issues.
void Lowering::mark_issued(const CfgBlock& block) {
  for (const IssuedAccess& access : merge_->issued(block.first, block.count)) {
    const auto found = op_of_site_.find(static_cast<std::uint32_t>(access.leader));
    if (found == op_of_site_.end()) continue;
    for (MemoryOp::Issued& issued : found->second->issued) {
      if (issued.bytes != 0) continue;
      issued = {static_cast<std::uint8_t>(access.bytes), static_cast<std::int16_t>(access.shift)};
      break;
    }
  }
}

/// Accesses through one register share a slot, so that the shape of its addresses is computed once
/// per basic block. Guarded accesses, and those for which not every lane provides an address, have
/// their own sets of lanes and do not share a slot. Neither do parameters: translated loads of them
/// do not compute a shape.
void Lowering::give_slot(const Instruction& instruction, const Operand& address, MemoryOp& op) {
  const bool by_each_lane = instruction.is(Opcode::ld, Opcode::st, Opcode::atom, Opcode::red);
  const bool shared = instruction.guard < 0 && by_each_lane && op.space != Space::param;
  const auto found = shared ? slots_.find(address.reg) : slots_.end();
  if (found != slots_.end()) {
    op.slot = found->second;
    op.starts_shape = false;
    return;
  }
  op.slot = static_cast<std::uint8_t>(std::min<std::size_t>(slots_used_, 255));
  op.starts_shape = true;
  if (slots_used_ < 255) {
    ++slots_used_;
    if (shared) slots_[address.reg] = op.slot;
  }
  kernel_->shape_slots = std::max<std::uint32_t>(kernel_->shape_slots, op.slot + 1u);
}

MemoryOp Lowering::memory_op(const Instruction& instruction, const Operand& address, Space space) {
  MemoryOp op;
  op.space = space;
  op.in_cluster = space == Space::generic;
  op.site = site_;
  op.offset = address.offset;
  if (address.reg >= 0) {
    op.address_row = register_row(address.reg);
    op.address_bytes = static_cast<std::uint8_t>(register_bytes(address.reg));
  } else if (!address.name.empty()) {
    op.offset += static_cast<std::int64_t>(address_of(instruction, address.name));
    // Parameters of a call are in local memory, unlike those of the kernel.
    if (space == Space::param && local_offsets_.contains(address.name)) op.space = Space::local;
  }
  op.origin = origin(address);
  if (op.origin.kind == Origin::Kind::shared) {
    const SharedArray& array = kernel_->shared_arrays[op.origin.index];
    op.shared_begin = array.offset;
    op.shared_end = array.offset + array.bytes;
  }
  op.cache = kernel_->global_caches++;
  give_slot(instruction, address, op);
  return op;
}

Origin Lowering::origin(const Operand& address) const {
  const PointerOrigin found = origin_of(origins_, module_, function_, address);
  if (found.kind == PointerOrigin::Kind::parameter) {
    const auto at = parameter_offsets_.find(found.symbol);
    if (at == parameter_offsets_.end()) return {};
    return {Origin::Kind::parameter, at->second + static_cast<std::uint32_t>(found.offset)};
  }
  if (found.kind != PointerOrigin::Kind::shared) return {};
  const auto& arrays = kernel_->shared_arrays;
  const auto array = std::find_if(arrays.begin(), arrays.end(), [&](const SharedArray& candidate) {
    return candidate.name == found.symbol;
  });
  return {Origin::Kind::shared, static_cast<std::uint32_t>(array - arrays.begin())};
}

/// Updates the properties of the kernel that depend on all its accesses.
void Lowering::note_access(const MemoryOp& op, bool writes) {
  const int bytes = op.element_alignment != 0 ? op.element_alignment : op.bytes;
  if (op.space == Space::shared || op.space == Space::generic) {
    kernel_->shared_granule = std::min(kernel_->shared_granule, bytes);
  }
  if (op.space == Space::global || op.space == Space::generic) {
    kernel_->global_granule = std::min(kernel_->global_granule, bytes);
    if (op.releases) kernel_->synchronises_blocks = true;
    if (!writes) return;
    if (op.origin.kind == Origin::Kind::parameter) {
      kernel_->written_parameters.push_back(op.origin.index);
    } else if (op.origin.kind == Origin::Kind::unknown) {
      kernel_->writes_unknown = true;
    }
  }
}

void Lowering::lower_load(const Instruction& instruction) {
  const auto access = access_of(instruction);
  if (!access || access->type == Type::none) fail(instruction, "is not known to the virtual GPU");
  MemoryOp op = memory_op(instruction, instruction.operands.at(1), access->space);
  op.bytes = static_cast<std::uint8_t>(ptx::size_of(access->type));
  op.count = static_cast<std::uint8_t>(access->count);
  op.element_alignment = element_alignment(*access);
  op.relaxed = access->relaxed;
  op.read_only = instruction.has("nc");
  op.block_scope = access->block_scope;
  op.acquires = access->acquires;
  const bool is_wide = access->type == Type::b128;  // two words of 64 bits, each in half of the row
  if (is_wide) {
    op.bytes = 8;
    op.count = 2;
  }
  note_access(op, false);
  if (!instruction.has("shared::cluster")) defer_observation(op);

  const Operand& destination = instruction.operands[0];
  std::vector<const Operand*> targets = {&destination};
  if (destination.kind == Operand::Kind::vector) {
    targets.clear();
    for (const Operand& element : destination.elements) targets.push_back(&element);
  }
  int bytes = row_bytes(access->type);
  for (const Operand* target : targets) {
    if (target->kind == Operand::Kind::reg) bytes = register_bytes(target->reg);
  }
  std::vector<std::uint32_t> rows;
  for (const Operand* target : targets) {
    rows.push_back(target->kind == Operand::Kind::reg ? register_row(target->reg) : scratch_row(0));
  }
  if (is_wide) {
    rows.push_back(rows.front() + 8 * warp_size);
    bytes = 8;
  }
  if (instruction.has("shared::cluster")) {
    return lower_cluster_access(instruction, op, bytes, std::move(rows));
  }
  Instr instr{};
  instr.full = instr.masked = load_handler(op, is_wide ? Type::b64 : access->type, bytes);
  if (instr.full == nullptr) fail(instruction, "loads into a register that is too narrow");
  if (const auto copied = copied_.find(site_); copied != copied_.end()) {
    kernel_->copied[site_] = {copied->second, op.bytes, copies_from_shared(instruction)};
  }
  instr.imm = keep(op);
  if (op.space == Space::param && op.address_bytes == 0 && op.bytes == bytes && bytes >= 4 &&
      !op.relaxed && is_in_parameters(op)) {
    const NativeType type = bytes == 4 ? NativeType::u32 : NativeType::u64;
    instr.native = {NativeOp::load_parameter, type, type};
  }
  set_rows(instr, std::move(rows));
  emit(instr);
}

/// True if every launch has the parameter that is loaded, at an aligned address.
bool Lowering::is_in_parameters(const MemoryOp& op) const {
  return op.offset >= 0 && op.offset % op.alignment() == 0 &&
         op.offset + op.access_bytes() <= static_cast<std::int64_t>(kernel_->info.parameter_bytes);
}

void Lowering::lower_store(const Instruction& instruction) {
  const auto access = access_of(instruction);
  if (!access || access->type == Type::none) fail(instruction, "is not known to the virtual GPU");
  MemoryOp op = memory_op(instruction, instruction.operands.at(0), access->space);
  op.bytes = static_cast<std::uint8_t>(ptx::size_of(access->type));
  op.count = static_cast<std::uint8_t>(access->count);
  op.element_alignment = element_alignment(*access);
  op.relaxed = access->relaxed;
  op.block_scope = access->block_scope;
  op.releases = access->releases;
  note_access(op, true);

  const Operand& source = instruction.operands.at(1);
  std::vector<const Operand*> values = {&source};
  if (source.kind == Operand::Kind::vector) {
    values.clear();
    for (const Operand& element : source.elements) values.push_back(&element);
  }
  int bytes = row_bytes(access->type);
  for (const Operand* value : values) {
    if (value->kind == Operand::Kind::reg) bytes = register_bytes(value->reg);
  }
  std::vector<std::uint32_t> rows;
  for (const Operand* value : values) {
    if (value->kind == Operand::Kind::reg) {
      rows.push_back(register_row(value->reg));
    } else if (value->kind == Operand::Kind::immediate) {
      rows.push_back(rows_->constant(bytes, immediate_bits(*value, access->type)));
    } else {
      rows.push_back(source_row(instruction, *value, bytes == 8 ? Type::u64 : access->type));
    }
  }
  if (instruction.has("shared::cluster")) {
    return lower_cluster_access(instruction, op, bytes, std::move(rows));
  }
  Instr instr{};
  instr.full = instr.masked = store_handler(op, access->type, bytes);
  if (instr.full == nullptr) fail(instruction, "stores from a register that is too narrow");
  instr.imm = keep(op);
  kernel_->stored[site_] = {rows, static_cast<std::uint8_t>(bytes), op.bytes};
  set_rows(instr, std::move(rows));
  emit(instr);
}

bool Lowering::is_used(const Operand& destination) const {
  return destination.kind == Operand::Kind::reg && used_[static_cast<std::size_t>(destination.reg)];
}

void Lowering::lower_atomic(const Instruction& instruction) {
  const auto action = atomic_action(instruction);
  const auto access = access_of(
      instruction, {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec", "rn"});
  if (!action || !access || access->count != 1) {
    fail(instruction, "is not known to the virtual GPU");
  }
  const bool returns = instruction.opcode == Opcode::atom;
  const std::size_t address = returns ? 1 : 0;
  MemoryOp op = memory_op(instruction, instruction.operands.at(address), access->space);
  op.bytes = static_cast<std::uint8_t>(ptx::size_of(access->type));
  op.relaxed = true;
  op.block_scope = access->block_scope;
  op.releases = access->releases;
  op.acquires = access->acquires;
  op.atomic = *action;
  op.reads_flag = returns && is_used(instruction.operands[0]);
  op.in_cluster = op.in_cluster || instruction.has("shared::cluster");
  kernel_->reaches_other_blocks |= instruction.has("shared::cluster");
  note_access(op, true);

  const bool cas = action->operation == AtomicAction::Operation::cas;
  std::uint32_t destination = scratch_row(0);
  if (returns && instruction.operands[0].kind == Operand::Kind::reg) {
    destination = register_row(instruction.operands[0].reg);
  }
  const std::uint32_t value =
      source_row(instruction, instruction.operands[address + 1], access->type);
  const std::uint32_t replacement =
      cas ? source_row(instruction, instruction.operands[address + 2], access->type) : value;
  Instr instr{};
  instr.full = instr.masked = run_atomic;
  if (const auto copied = copied_.find(site_); copied != copied_.end()) {
    kernel_->copied[site_] = {copied->second, op.bytes};
  }
  instr.imm = keep(op);
  set_rows(instr, {destination, value, replacement});
  emit(instr);
}

/// The rows of a fragment's registers. A sink (_) has a row that is never read.
std::vector<std::uint32_t> Lowering::fragment_rows(const Operand& fragment) {
  std::vector<std::uint32_t> rows;
  for (const Operand& element : fragment.elements) {
    rows.push_back(element.kind == Operand::Kind::reg ? register_row(element.reg) : scratch_row(0));
  }
  if (fragment.kind == Operand::Kind::reg) rows = {register_row(fragment.reg)};
  return rows;
}

void Lowering::lower_matrix_memory(const Instruction& instruction) {
  const bool load = instruction.opcode == Opcode::ldmatrix;
  const auto access = access_of(instruction, {"m8n8", "m8n16", "m16n16", "m16n8", "x1", "x2", "x4",
                                              "trans", "b8x16", "b4x16_p64", "b6x16_p32"});
  const auto move = matrix_move_form(instruction);
  if (!access || !move) fail(instruction, "is not known to the virtual GPU");
  MemoryOp op = memory_op(instruction, instruction.operands.at(load ? 1 : 0), access->space);
  if (op.space == Space::shared && op.address_bytes == 8) take_low_half(op);
  op.starts_shape = true;
  op.bytes = 2;
  op.count = static_cast<std::uint8_t>(move->groups);
  note_access(op, false);
  const Operand& fragment = instruction.operands.at(load ? 0 : 1);
  std::vector<std::uint32_t> rows = fragment_rows(fragment);
  Instr instr{};
  instr.full = instr.masked = matrix_mover(*move);
  instr.imm = keep(op);
  set_rows(instr, std::move(rows));
  emit(instr);
}

/// Returns false if the instruction does not access memory.
bool Lowering::lower_memory(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::ld:
    case Opcode::ldu: lower_load(instruction); return true;
    case Opcode::st: lower_store(instruction); return true;
    case Opcode::atom:
    case Opcode::red: lower_atomic(instruction); return true;
    case Opcode::cp: return lower_copy(instruction);
    case Opcode::clusterlaunchcontrol: lower_launch_control(instruction); return true;
    case Opcode::mbarrier: lower_mbarrier(instruction); return true;
    case Opcode::wgmma: lower_wgmma(instruction); return true;
    case Opcode::mma:
      return lower_narrow_multiply(instruction) || lower_sparse_multiply(instruction);
    case Opcode::tcgen05: lower_tcgen05(instruction); return true;
    case Opcode::ldmatrix:
    case Opcode::stmatrix: lower_matrix_memory(instruction); return true;
    case Opcode::wmma:
      if (instruction.has("mma")) return false;
      lower_wmma_memory(instruction);
      return true;
    default: return instruction.has(ptx::Fact::cache_hint);
  }
}

/// Returns false if the instruction is not an asynchronous copy.
bool Lowering::lower_copy(const Instruction& instruction) {
  if (instruction.has("bulk")) {
    lower_bulk_copy(instruction);
  } else if (instruction.has("mbarrier")) {
    lower_copy_arrival(instruction);
  } else if (instruction.has("async")) {
    lower_async_copy(instruction);
  } else {
    return false;
  }
  return true;
}

}  // namespace rung::vgpu
