// Lowers wmma.load and wmma.store to a computation of addresses, followed by ordinary loads and
// stores, which are counted and checked as such.

#include <algorithm>
#include <string_view>

#include "vgpu/engine/matrix/matrix_transpose.hpp"
#include "vgpu/engine/matrix/wmma_memory.hpp"
#include "vgpu/engine/memory/access.hpp"
#include "vgpu/lowering/lowering.hpp"

namespace rung::vgpu {
namespace {

using ptx::Space;
using ptx::Type;

Space space_of(const ptx::Instruction& instruction) {
  if (instruction.has("global")) return Space::global;
  const bool shared = instruction.has("shared") || instruction.has("shared::cta");
  return shared ? Space::shared : Space::generic;
}

}  // namespace

struct Lowering::WmmaMove {
  WmmaLayout layout;
  WmmaAccesses plan;
  bool column_major, stores;
  Space space;
  std::vector<std::uint32_t> fragment;  // rows
  MemoryOp op;                          // with the base address
  std::vector<std::uint32_t> between;   // rows for values on their way between memory and registers

  int register_bytes() const { return layout.element == MatrixElement::f64 ? 8 : 4; }
  /// The type of the elements that are loaded or stored.
  Type type() const {
    if (plan.path == WmmaPath::by_element) return Type::u8;
    return register_bytes() == 8 ? Type::b64 : Type::b32;
  }
  /// True if the access belongs to the same ldmatrix as the previous one: it loads up to four 8x8
  /// matrices.
  bool joins_previous(std::size_t access) const {
    const bool by_ldmatrix = layout.fragment != WmmaFragment::sum &&
                             plan.path != WmmaPath::by_element &&
                             element_bits(layout.element) <= 16;
    return space == Space::shared && by_ldmatrix && access % 4 != 0;
  }
  MemoryOp op_of(std::size_t access, std::uint32_t address_row) const {
    MemoryOp result = op;
    result.address_row = address_row;
    result.address_bytes = 8;
    result.starts_shape = true;
    result.bytes = static_cast<std::uint8_t>(ptx::size_of(type()));
    result.count = static_cast<std::uint8_t>(plan.accesses[access].registers);
    result.joins_previous = joins_previous(access);
    result.issued[0] = {static_cast<std::uint8_t>(result.access_bytes()), 0};
    return result;
  }
  std::vector<std::uint32_t> rows_of(const WmmaAccess& access) const {
    switch (plan.path) {
      case WmmaPath::transposed: return {between[0]};
      case WmmaPath::by_element: return {between[static_cast<std::size_t>(access.element_index)]};
      case WmmaPath::direct: break;
    }
    const auto first = fragment.begin() + access.reg;
    return {first, first + access.registers};
  }
};

/// Emits the computation of addresses. Returns the row of each access.
std::vector<std::uint32_t> Lowering::emit_wmma_addresses(const Instruction& instruction,
                                                         const WmmaMove& move) {
  WmmaAddresses addresses = wmma_addresses(move.layout, move.plan, move.column_major);
  addresses.base_row = move.op.address_row;
  addresses.base_bytes = move.op.address_bytes;
  addresses.offset = move.op.offset;
  addresses.stores = move.stores;
  const int packed = move.column_major ? move.layout.rows : move.layout.columns;
  addresses.stride_row = instruction.operands.size() > 2
                             ? source_row(instruction, instruction.operands[2], Type::u32)
                             : rows_->constant(4, static_cast<std::uint64_t>(packed));
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < move.plan.accesses.size(); ++i) {
    rows.push_back(scratch_row(1 + move.between.size() + i));
  }
  kernel_->wmma_addresses.push_back(std::move(addresses));
  emit(wmma_address_handler(), imm_to(kernel_->wmma_addresses.back()), rows);
  return rows;
}

void Lowering::emit_wmma_load(const WmmaMove& move, const WmmaAccess& access, const MemoryOp& op) {
  emit(load_handler(op, move.type(), move.register_bytes()), imm_to(op), move.rows_of(access));
  const std::uint32_t reg = move.fragment[static_cast<std::size_t>(access.reg)];
  if (move.plan.path == WmmaPath::transposed) {
    emit(matrix_transpose_handler(), 0, {reg, move.between[0]});
  } else if (move.plan.path == WmmaPath::by_element && access.element_index == 3) {
    std::vector<std::uint32_t> rows = {reg};
    rows.insert(rows.end(), move.between.begin(), move.between.end());
    emit(run_join_bytes, 0, std::move(rows));
  }
}

void Lowering::emit_wmma_store(const WmmaMove& move, const WmmaAccess& access, const MemoryOp& op) {
  if (move.plan.path == WmmaPath::transposed) {
    const std::uint32_t reg = move.fragment[static_cast<std::size_t>(access.reg)];
    emit(matrix_transpose_handler(), 0, {move.between[0], reg});
  }
  emit(store_handler(op, move.type(), move.register_bytes()), imm_to(op), move.rows_of(access));
}

void Lowering::lower_wmma_memory(const Instruction& instruction) {
  const auto layout = wmma_layout(instruction);
  const bool column_major = instruction.has("col");
  const auto plan = layout ? wmma_accesses(*layout, column_major) : std::nullopt;
  if (!plan || column_major == instruction.has("row")) {
    fail(instruction, "is not known to the virtual GPU");
  }
  const bool stores = instruction.has("store");
  WmmaMove move{*layout, *plan, column_major, stores, space_of(instruction), {}, {}, {}};
  move.fragment = fragment_rows(instruction.operands[stores ? 1 : 0]);
  move.op = memory_op(instruction, instruction.operands[stores ? 0 : 1], move.space);
  for (std::size_t i = 1; i <= 4; ++i) move.between.push_back(scratch_row(i));
  const auto address_rows = emit_wmma_addresses(instruction, move);
  for (std::size_t i = 0; i < plan->accesses.size(); ++i) {
    kernel_->memory_ops.push_back(move.op_of(i, address_rows[i]));
    const MemoryOp& op = kernel_->memory_ops.back();
    note_access(op, stores);
    if (stores) {
      emit_wmma_store(move, plan->accesses[i], op);
    } else {
      emit_wmma_load(move, plan->accesses[i], op);
    }
  }
  if (stores) return;
  const auto distinct = static_cast<std::size_t>(plan->distinct);
  for (std::size_t i = distinct; i < move.fragment.size(); ++i) {
    emit(run_copy_register, 0, {move.fragment[i], move.fragment[i - distinct]});
  }
}

}  // namespace rung::vgpu
