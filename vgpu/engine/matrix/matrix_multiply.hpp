#pragma once
// The handler for every form of matrix multiply-accumulate.

#include <cstdint>

#include "vgpu/model/instr.hpp"
#include "vgpu/model/matrix_form.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

/// Instr::imm is a MatrixForm. Rows: the registers of D, A, B and C.
Handler matrix_handler();

/// The part of matrix_handler() that multiplies floats up to tf32.
using FloatMultiply = void (*)(const MatrixForm& form, Warp& warp, const Instr& instr);
FloatMultiply float_multiply();

/// Points to each operand's first register among the instruction's rows.
struct RowsOf {
  const std::uint32_t *d, *a, *b, *c;
};
inline RowsOf rows_of(const MatrixForm& form, const Instr& instr) {
  RowsOf rows{};
  rows.d = instr.rows;
  rows.a = rows.d + form.sum_registers(form.d);
  rows.b = rows.a + form.a_registers();
  rows.c = rows.b + form.b_registers();
  return rows;
}

}  // namespace rung::vgpu
