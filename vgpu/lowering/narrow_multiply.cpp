// Lowering of mma.sync with .kind (PTX ISA, 9.7.14.5), and of mma.sp without (9.7.14.6).

#include "vgpu/engine/matrix/narrow_multiply.hpp"

#include "vgpu/engine/matrix/sparse_multiply.hpp"
#include "vgpu/lowering/lowering.hpp"

namespace rung::vgpu {

/// Returns false if the instruction is another mma.
bool Lowering::lower_sparse_multiply(const Instruction& instruction) {
  auto op = sparse_multiply_form(instruction);
  if (!op) return false;
  const auto& operands = instruction.operands;
  op->d_rows = fragment_rows(operands[0]);
  op->a_rows = fragment_rows(operands[1]);
  op->b_rows = fragment_rows(operands[2]);
  for (const Operand& c : operands[3].elements) {
    op->c_rows.push_back(source_row(instruction, c, ptx::Type::b32));
  }
  op->metadata = source_row(instruction, operands[4], ptx::Type::b32);
  op->selector = static_cast<int>(operands[5].bits);
  emit(run_sparse_multiply, keep_op(*op), {});
  return true;
}

/// Returns false if the instruction is another mma.
bool Lowering::lower_narrow_multiply(const Instruction& instruction) {
  auto op = narrow_multiply_form(instruction);
  if (!op) return false;
  const auto& operands = instruction.operands;
  // A vector of one register may be written without braces.
  const auto row = [&](const Operand& operand, std::size_t index, ptx::Type type) {
    const bool is_vector = operand.kind == Operand::Kind::vector;
    return source_row(instruction, is_vector ? operand.elements.at(index) : operand, type);
  };
  op->d_rows = fragment_rows(operands[0]);
  op->a_rows = fragment_rows(operands[1]);
  op->b_rows = fragment_rows(operands[2]);
  for (std::size_t i = 0; i < op->d_rows.size(); ++i) {
    op->c_rows.push_back(row(operands[3], i, ptx::Type::b32));
  }
  const auto scales_at = [&](std::size_t first) {
    return NarrowScales{row(operands[first], 0, ptx::Type::b32),
                        row(operands[first + 1], 0, ptx::Type::u16),
                        row(operands[first + 1], 1, ptx::Type::u16)};
  };
  if (op->sparse) op->metadata = row(operands[4], 0, ptx::Type::b32);
  const std::size_t after = op->sparse ? 6 : 4;
  if (op->scales_of_k != 0) {
    op->scale_a = scales_at(after);
    op->scale_b = scales_at(after + 2);
  }
  emit(run_narrow_multiply, keep_op(*op), {});
  return true;
}

}  // namespace rung::vgpu
