// Lowering of tcgen05 (PTX ISA, 9.7.16).

#include <algorithm>
#include <bit>

#include "vgpu/engine/tensor_memory/tcgen05.hpp"
#include "vgpu/lowering/lowering.hpp"
#include "vgpu/lowering/tcgen05_form.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {

using ptx::Type;

namespace {

constexpr const char* not_known = "is not known to the virtual GPU";

}  // namespace

void Lowering::lower_tensor_allocation(const Instruction& instruction) {
  using Action = TensorAllocationOp::Action;
  const auto& operands = instruction.operands;
  TensorAllocationOp op;
  if (instruction.has("relinquish_alloc_permit")) {
    op.action = Action::relinquish;
  } else {
    op.columns = source_row(instruction, operands[1], Type::b32);
    if (instruction.has("alloc")) {
      op.result = async_address(instruction, operands[0]);
    } else {
      op.action = Action::release;
      op.address = source_row(instruction, operands[0], Type::b32);
    }
  }
  emit(run_tensor_allocation, keep_async(op), {});
}

void Lowering::lower_tensor_access(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const auto fragment = tensor_fragment(instruction);
  if (!fragment) fail(instruction, not_known);
  TensorAccessOp op;
  op.fragment = *fragment;
  op.loads = instruction.has("ld");
  op.reduction = *tensor_reduction(instruction);
  op.address = async_address(instruction, operands[op.loads ? 1 : 0]);
  const bool has_split = fragment->shape == TensorShape::l16_b32_twice;
  if (has_split) op.fragment.split = static_cast<int>(operands[op.loads ? 2 : 1].bits);
  op.rows = fragment_rows(op.loads ? operands[0] : operands.back());
  if (op.reduction.type != TensorReduction::Type::none) {
    op.reduction.row = op.rows.back();
    op.rows.pop_back();
  }
  emit(op.loads ? run_tensor_load : run_tensor_store, keep_async(op), {});
}

void Lowering::lower_tensor_multiply(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  auto op = tensor_multiply_form(instruction);
  if (!op) fail(instruction, not_known);
  op->d = async_address(instruction, operands[0]);
  op->a_in_tensor_memory = operands[1].kind == Operand::Kind::address;
  if (op->a_in_tensor_memory) {
    op->a = async_address(instruction, operands[1]);
  } else {
    op->a_descriptor = source_row(instruction, operands[1], Type::b64);
  }
  op->b_descriptor = source_row(instruction, operands[2], Type::b64);
  std::size_t next = 3;
  if (op->sparse) op->metadata = async_address(instruction, operands[next++]);
  op->descriptor = source_row(instruction, operands[next++], Type::b32);
  if (op->scales_of_k != 0) {
    op->scale_a = async_address(instruction, operands[next++]);
    op->scale_b = async_address(instruction, operands[next++]);
  }
  if (operands[next].kind == Operand::Kind::vector) {
    for (const Operand& lanes : operands[next].elements) {
      op->disabled.push_back(source_row(instruction, lanes, Type::b32));
    }
    ++next;
  }
  op->adds = source_row(instruction, operands[next++], Type::pred);
  if (next < operands.size() && op->weight_stationary) {
    op->has_zero_columns = true;
    op->zero_columns = source_row(instruction, operands[next], Type::b64);
  } else if (next < operands.size()) {
    op->scale_d = static_cast<int>(operands[next].bits);
  }
  emit(run_tensor_multiply, keep_async(*op), {});
}

void Lowering::lower_tensor_copy(const Instruction& instruction) {
  auto op = tensor_copy_form(instruction);
  if (!op) fail(instruction, not_known);
  op->to = async_address(instruction, instruction.operands[0]);
  op->descriptor = source_row(instruction, instruction.operands[1], Type::b64);
  emit(run_tensor_copy, keep_async(*op), {});
}

void Lowering::lower_tensor_commit(const Instruction& instruction) {
  TensorCommitOp op;
  op.blocks = tcgen05_blocks(instruction);
  op.multicast = instruction.has("multicast::cluster");
  op.barrier = async_address(instruction, instruction.operands[0]);
  if (op.multicast) op.mask = source_row(instruction, instruction.operands[1], Type::b16);
  emit(run_tensor_commit, keep_async(op), {});
}

/// Pairs of blocks have a trick that no manual has: shared::cluster addresses of a GPU hold the block's rank from
/// bit 24 on, so that address & 0xFEFFFFFF is in the even block of the pair (CUTLASS, Sm100MmaPeerBitMask). Compilers
/// also clear the lowest bits of the mask, which are zero in an aligned address: 10 bits of one aligned to 1024 bytes.
/// Returns false if the instruction is not that.
bool Lowering::lower_even_block(const Instruction& instruction) {
  constexpr std::uint32_t rank_bit = 1U << 24,
                          max_alignment = 1U << 18;  // all of a block's shared memory
  const auto& operands = instruction.operands;
  if (instruction.opcode != ptx::Opcode::and_ || !instruction.has("b32") ||
      operands[2].kind != Operand::Kind::immediate || operands[1].kind != Operand::Kind::reg) {
    return false;
  }
  const std::uint32_t alignment = (~static_cast<std::uint32_t>(operands[2].bits) ^ rank_bit) + 1;
  if (!std::has_single_bit(alignment) || alignment > max_alignment) return false;
  const bool has_pairs = std::ranges::any_of(
      function_.body, [](const Instruction& it) { return it.has("cta_group::2"); });
  if (!has_pairs) return false;
  kernel_->asynchronous = true;
  emit(run_even_block, 0,
       {row_of(instruction, operands[0], Type::b32), row_of(instruction, operands[1], Type::b32)});
  return true;
}

void Lowering::lower_tcgen05(const Instruction& instruction) {
  const auto is = [&](std::string_view modifier) { return instruction.has(modifier); };
  kernel_->asynchronous = kernel_->uses_tensor_memory = true;
  if (is("alloc") || is("dealloc") || is("relinquish_alloc_permit")) {
    lower_tensor_allocation(instruction);
  } else if (is("ld") || is("st")) {
    lower_tensor_access(instruction);
  } else if (is("wait::ld") || is("wait::st")) {
    emit(is("wait::ld") ? run_tensor_wait_loads : run_tensor_wait_stores, 0, {});
  } else if (is("mma")) {
    lower_tensor_multiply(instruction);
  } else if (is("cp")) {
    lower_tensor_copy(instruction);
  } else if (is("shift")) {
    TensorShiftOp op;
    op.blocks = tcgen05_blocks(instruction);
    op.address = async_address(instruction, instruction.operands[0]);
    emit(run_tensor_shift, keep_async(op), {});
  } else if (is("commit")) {
    lower_tensor_commit(instruction);
  }
  // Fences order what barriers and mbarriers order already: kernels that are known to work leave them out.
}

}  // namespace rung::vgpu
