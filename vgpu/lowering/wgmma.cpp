// Lowering of wgmma (PTX ISA, 9.7.15).

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "vgpu/engine/matrix/matrix_names.hpp"
#include "vgpu/engine/matrix/wgmma.hpp"
#include "vgpu/lowering/lowering.hpp"
#include "vgpu/lowering/wgmma_form.hpp"

namespace rung::vgpu {
namespace {

using Element = MatrixElement;
using ptx::Type;

}  // namespace

/// Parses the shape and types. k spans 32 bytes (PTX ISA, 9.7.15.5.2).
std::optional<WgmmaOp> wgmma_form(const ptx::Instruction& instruction) {
  WgmmaOp op;
  std::vector<Element> types;
  for (const std::string& modifier : instruction.modifiers) {
    if (const auto element = matrix_element_named(modifier)) {
      types.push_back(*element);
    } else if (modifier == "satfinite") {
      op.saturating = true;
    } else if (const auto shape = read_matrix_shape(modifier); shape && shape->m == 64) {
      op.n = shape->n;
      op.k = shape->k;
    } else if (modifier != "mma_async" && modifier != "sync" && modifier != "aligned") {
      return std::nullopt;
    }
  }
  if (types.size() != 3) return std::nullopt;
  op.d = types[0];
  op.a = types[1];
  op.b = types[2];
  const int bits = element_bits(op.a);
  const bool narrow = bits == 8;
  const bool same = op.a == op.b || (narrow && matrix_sum_fits(op.b, op.d));
  if (!same || !matrix_sum_fits(op.a, op.d) || bits < 8 || bits > 32 || op.k * bits != 256 ||
      op.n < 8 || op.n > max_product_columns || op.n % 8 != 0) {
    return std::nullopt;
  }
  return op;
}

void Lowering::find_wgmma_uses() { wgmma_uses_ = wgmma_register_uses(function_, cfg_); }

/// Emitted before the instruction.
void Lowering::report_wgmma_use() {
  const auto use =
      std::find_if(wgmma_uses_.begin(), wgmma_uses_.end(),
                   [&](const WgmmaRegisterUse& at) { return at.instruction == site_; });
  if (use == wgmma_uses_.end()) return;
  const std::string& name = function_.registers[static_cast<std::size_t>(use->reg)].name;
  WgmmaRegisterReport report;
  report.in_flight = use->in_flight;
  report.message =
      use->in_flight ? fmt::format(
                           "register {} is in use by the wgmma at PTX line {}: there is no "
                           "wgmma.wait_group between",
                           name, function_.body[use->wgmma].line)
                     : fmt::format("register {} has been written since the last wgmma.fence", name);
  emit_unguarded(report_wgmma_register, keep_async(report), {});
}

void Lowering::lower_wgmma(const Instruction& instruction) {
  if (instruction.has("fence") || instruction.has("commit_group") ||
      instruction.has("wait_group")) {
    kernel_->asynchronous = true;
    // A static analysis checks fences (program/wgmma_registers.hpp), so they do nothing at run
    // time.
    if (instruction.has("commit_group")) emit(commit_wgmma, 0, {});
    if (instruction.has("wait_group")) emit(wait_wgmma, instruction.operands.at(0).bits, {});
    return;
  }
  auto op = wgmma_form(instruction);
  const auto& operands = instruction.operands;
  if (!op) fail(instruction, "is not known to the virtual GPU");
  op->sums = fragment_rows(operands[0]);
  op->a_in_registers = operands[1].kind == Operand::Kind::vector;
  if (op->a_in_registers) {
    op->a_rows = fragment_rows(operands[1]);
  } else {
    op->a_descriptor = source_row(instruction, operands[1], Type::b64);
  }
  op->b_descriptor = source_row(instruction, operands[2], Type::b64);
  op->scale_d = source_row(instruction, operands[3], Type::pred);
  if (op->d != Element::s32) {
    op->negate_a = static_cast<std::int64_t>(operands[4].bits) < 0;
    op->negate_b = static_cast<std::int64_t>(operands[5].bits) < 0;
    if (element_bits(op->a) == 16) {
      std::size_t at = 6;
      if (!op->a_in_registers) op->transpose_a = operands[at++].bits != 0;
      op->transpose_b = operands[at].bits != 0;
    }
  }
  emit(run_wgmma, keep_async(*op), {});
}

}  // namespace rung::vgpu
