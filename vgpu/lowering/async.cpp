// Lowering of asynchronous copies, mbarriers and accesses to other blocks of the cluster.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

#include "vgpu/engine/async/async_copy.hpp"
#include "vgpu/engine/async/bulk_copy.hpp"
#include "vgpu/engine/async/cluster_access.hpp"
#include "vgpu/engine/async/mbarrier.hpp"
#include "vgpu/lowering/lowering.hpp"
#include "vgpu/model/async_ops.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Space;
using ptx::Type;
using Action = MbarrierOp::Action;

constexpr const char* not_known = "is not known to the virtual GPU";

std::optional<Action> mbarrier_action(const ptx::Instruction& instruction) {
  const auto is = [&](std::string_view modifier) { return instruction.has(modifier); };
  if (is("init")) return Action::init;
  if (is("inval")) return Action::inval;
  if (is("arrive")) return is("expect_tx") ? Action::arrive_expect : Action::arrive;
  if (is("arrive_drop") && !is("expect_tx")) return Action::arrive_drop;
  if (is("expect_tx")) return Action::expect;
  if (is("complete_tx")) return Action::complete;
  if (is("test_wait") || is("try_wait")) return is("parity") ? Action::test_parity : Action::test;
  return std::nullopt;
}

bool is_test(Action action) { return action == Action::test || action == Action::test_parity; }

/// True if the first operand is the address.
bool begins_with_address(Action action) {
  return action == Action::init || action == Action::inval || action == Action::expect ||
         action == Action::complete;
}

bool is_shared(std::string_view modifier) {
  return modifier == "shared::cluster" || modifier == "shared::cta";
}

std::optional<BulkCopyOp::Direction> bulk_direction(const ptx::Instruction& instruction) {
  std::vector<std::string_view> spaces;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "global" || is_shared(modifier)) spaces.push_back(modifier);
  }
  if (spaces.size() != 2) return std::nullopt;
  using enum BulkCopyOp::Direction;
  if (spaces[0] == "global") return is_shared(spaces[1]) ? std::optional(store) : std::nullopt;
  return spaces[1] == "global" ? load : between_blocks;
}

TensorMode tensor_mode(const ptx::Instruction& instruction) {
  const auto is = [&](std::string_view modifier) { return instruction.has(modifier); };
  if (is("im2col::w::128")) return TensorMode::im2col_w_128;
  if (is("im2col::w") || is("im2col_no_offs::w")) return TensorMode::im2col_w;
  return is("im2col") || is("im2col_no_offs") ? TensorMode::im2col : TensorMode::tiled;
}

/// The reduction of a cp.reduce. For a tensor, the type comes from its tensor map.
std::optional<BulkCopyOp::Reduction> bulk_reduction(const ptx::Instruction& instruction) {
  using enum BulkCopyOp::Reduction;
  if (!instruction.has("reduce")) return none;
  if (!instruction.has("add")) return std::nullopt;
  if (instruction.has("tensor")) return add_elements;
  if (instruction.has("f32")) return add_f32;
  if (instruction.has("f64")) return add_f64;
  if (instruction.has("f16")) return add_f16;
  if (instruction.has("bf16")) return add_bf16;
  if (instruction.has("u32") || instruction.has("s32")) return add_u32;
  if (instruction.has("u64")) return add_u64;
  return std::nullopt;
}

}  // namespace

AsyncAddress Lowering::async_address(const Instruction& instruction, const Operand& operand) {
  AsyncAddress address;
  address.offset = operand.offset;
  if (operand.reg >= 0) {
    address.row = register_row(operand.reg);
    address.bytes = static_cast<std::uint8_t>(register_bytes(operand.reg));
  } else if (!operand.name.empty()) {
    address.offset += static_cast<std::int64_t>(address_of(instruction, operand.name));
  }
  return address;
}

/// cp.async.
void Lowering::lower_async_copy(const Instruction& instruction) {
  Instr instr{};
  const auto is = [&](std::string_view modifier) { return instruction.has(modifier); };
  if (is("commit_group") || is("wait_all") || is("wait_group")) {
    instr.full = instr.masked = is("commit_group") ? commit_async_group
                                : is("wait_all")   ? wait_async_all
                                                   : wait_async_groups;
    if (is("wait_group")) instr.imm = instruction.operands.at(0).bits;
    set_rows(instr, {});
    emit(instr);
    return;
  }
  AsyncCopyOp op;
  op.bytes = static_cast<std::uint32_t>(instruction.operands[2].bits);
  if (!std::has_single_bit(op.bytes)) fail(instruction, "copies 4, 8 or 16 bytes");
  op.to = memory_op(instruction, instruction.operands[0], Space::shared);
  op.from = memory_op(instruction, instruction.operands[1], Space::global);
  for (MemoryOp* side : {&op.to, &op.from}) {
    side->bytes = static_cast<std::uint8_t>(op.bytes);
    note_access(*side, false);
  }
  kernel_->copied[site_] = {{false}, op.bytes};
  // Its shared-memory access counts for the kernel, but not for the instruction.
  op.to.counted_apart = true;
  const std::size_t hints = is("L2::cache_hint") ? 1 : 0;
  if (instruction.operands.size() - hints > 3) {
    op.source_bytes_row = source_row(instruction, instruction.operands[3], Type::u32);
  }
  kernel_->async_copies.push_back(op);
  instr.full = instr.masked = run_async_copy;
  instr.imm = imm_to(kernel_->async_copies.back());
  set_rows(instr, {});
  emit(instr);
}

/// Lowers ld or st of .shared::cluster, with its elements in `rows`.
void Lowering::lower_cluster_access(const Instruction& instruction, const MemoryOp& op,
                                    int row_bytes, std::vector<std::uint32_t> rows) {
  const bool loads = instruction.opcode == ptx::Opcode::ld;
  if (loads && op.bytes < row_bytes &&
      ptx::is_signed(ptx::type_named(instruction.modifiers.back()))) {
    fail(instruction, "of a signed type into a wider register is not known to the virtual GPU");
  }
  kernel_->reaches_other_blocks = true;
  ClusterAccessOp access;
  access.address = async_address(instruction, instruction.operands[loads ? 1 : 0]);
  access.bytes = op.bytes;
  access.row_bytes = static_cast<std::uint32_t>(row_bytes);
  access.rows = std::move(rows);
  emit(loads ? run_cluster_load : run_cluster_store, keep_async(access), {});
}

void Lowering::lower_mbarrier(const Instruction& instruction) {
  const auto action = mbarrier_action(instruction);
  if (!action) fail(instruction, not_known);
  const auto& operands = instruction.operands;
  const std::size_t at = begins_with_address(*action) ? 0 : 1;
  MbarrierOp op;
  op.action = *action;
  op.relaxed = instruction.has("relaxed");
  op.address = async_address(instruction, operands[at]);
  if (at == 1) {
    const bool given = operands[0].kind == Operand::Kind::reg;
    op.has_result = given || is_test(*action);
    op.result = given ? row_of(instruction, operands[0], is_test(*action) ? Type::pred : Type::b64)
                      : scratch_row(0);
  }
  op.has_value = operands.size() > at + 1;
  if (op.has_value) {
    op.value =
        source_row(instruction, operands[at + 1], *action == Action::test ? Type::b64 : Type::b32);
  }
  emit(instruction.has("try_wait") ? run_mbarrier_wait : run_mbarrier, keep_async(op), {});
}

/// cp.async.mbarrier.arrive.
void Lowering::lower_copy_arrival(const Instruction& instruction) {
  MbarrierOp op;
  op.action = Action::arrive;
  op.noinc = instruction.has("noinc");
  op.address = async_address(instruction, instruction.operands.at(0));
  emit(run_mbarrier_copies, keep_async(op), {});
}

/// mov.b128: the two halves of a register of 128 bits are rows of their own. Returns false if it is not that.
bool Lowering::lower_wide_move(const Instruction& instruction) {
  if (instruction.opcode != ptx::Opcode::mov || !instruction.has("b128")) return false;
  const auto half_of = [&](const Operand& operand, std::size_t half) {
    return operand.kind != Operand::Kind::vector
               ? register_row(operand.reg) + static_cast<std::uint32_t>(half) * 8 * warp_size
               : source_row(instruction, operand.elements[half], Type::b64);
  };
  const Operand& to = instruction.operands[0];
  for (std::size_t half = 0; half < 2; ++half) {
    if (to.kind == Operand::Kind::vector && to.elements[half].kind != Operand::Kind::reg) continue;
    emit(move_half, 0, {half_of(to, half), half_of(instruction.operands[1], half)});
  }
  return true;
}

/// clusterlaunchcontrol.try_cancel asks for a cluster that is yet to start; the queries read the response.
void Lowering::lower_launch_control(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (instruction.has("try_cancel")) {
    BulkCopyOp op;
    op.direction = BulkCopyOp::Direction::cancel;
    kernel_->cancels_launches = true;
    op.multicast = instruction.has("multicast::cluster::all");
    op.shared = async_address(instruction, operands[0]);
    op.barrier = async_address(instruction, operands[1]);
    emit(run_bulk_copy, keep_async(op), {});
    return;
  }
  const std::uint32_t response = register_row(operands[1].reg);
  if (instruction.has("is_canceled")) {
    emit(query_canceled, 0, {row_of(instruction, operands[0], Type::pred), response});
    return;
  }
  const auto emit_part = [&](const Operand& to, std::uint64_t part) {
    if (to.kind == Operand::Kind::reg)
      emit(query_first_block, part, {register_row(to.reg), response});
  };
  if (operands[0].kind == Operand::Kind::vector) {
    for (std::size_t i = 0; i < 3; ++i) emit_part(operands[0].elements[i], i);
    return;
  }
  const auto is = [&](std::string_view part) { return instruction.has(part); };
  emit_part(operands[0], is("get_first_ctaid::x") ? 0 : is("get_first_ctaid::y") ? 1 : 2);
}

void Lowering::lower_bulk_copy(const Instruction& instruction) {
  const auto is = [&](std::string_view modifier) { return instruction.has(modifier); };
  if (is("prefetch")) return;
  if (is("commit_group") || is("wait_group")) {
    kernel_->asynchronous = true;
    const bool waits = is("wait_group");
    emit(!waits       ? commit_bulk_group
         : is("read") ? wait_bulk_reads
                      : wait_bulk_groups,
         waits ? instruction.operands.at(0).bits : 0, {});
    return;
  }
  const auto direction = bulk_direction(instruction);
  const auto reduction = bulk_reduction(instruction);
  const bool tensor = is("tensor");
  if (!direction || !reduction) fail(instruction, not_known);
  using enum BulkCopyOp::Direction;
  const bool stores = *direction == store;
  const auto& operands = instruction.operands;
  BulkCopyOp op;
  op.direction = *direction;
  op.reduction = *reduction;
  op.multicast = is("multicast::cluster");
  op.of_pair = is("cta_group::2");
  op.picks_rows = is("tile::gather4") || is("tile::scatter4");
  op.mode = tensor_mode(instruction);
  op.shared = async_address(instruction, operands[stores ? 1 : 0]);
  const Operand& global = operands[stores ? 0 : 1];
  op.global = async_address(instruction, global);
  std::size_t next = 2;
  if (tensor) {
    for (const Operand& coordinate : global.elements[1].elements) {
      op.coordinates.push_back(source_row(instruction, coordinate, Type::s32));
    }
  } else {
    op.bytes = source_row(instruction, operands[next++], Type::u32);
  }
  if (!stores) op.barrier = async_address(instruction, operands[next++]);
  if (op.mode != TensorMode::tiled && !stores) {
    for (const Operand& offset : operands.at(next++).elements) {
      op.offsets.push_back(source_row(instruction, offset, Type::u16));
    }
  }
  if (op.multicast) op.mask = source_row(instruction, operands.at(next), Type::u16);
  emit(run_bulk_copy, keep_async(op), {});
}

}  // namespace rung::vgpu
