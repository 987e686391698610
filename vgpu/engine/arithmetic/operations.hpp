#pragma once
// The groups of register-to-register instructions. Each function adds a group's mnemonics to the
// table.

#include "vgpu/engine/lanes/op_table.hpp"

namespace rung::vgpu {

void add_moves(OpTable& table);
void add_predicate_logic(OpTable& table);
void add_integer_arithmetic(OpTable& table);
void add_integer_division(OpTable& table);
void add_packed_integer_arithmetic(OpTable& table);
void add_carry_arithmetic(OpTable& table);
void add_float_arithmetic(OpTable& table);
void add_rare_float_arithmetic(OpTable& table);
void add_half_arithmetic(OpTable& table);
void add_half_comparisons(OpTable& table);
void add_special_functions(OpTable& table);
void add_approximations(OpTable& table);
void add_logic(OpTable& table);
void add_bit_fields(OpTable& table);
void add_comparisons(OpTable& table);
void add_conversions(OpTable& table);
void add_half_conversions(OpTable& table);
void add_narrow_conversions(OpTable& table);
void add_packing_conversions(OpTable& table);
void add_shuffles(OpTable& table);
void add_votes(OpTable& table);
void add_reductions(OpTable& table);
void add_video(OpTable& table);

}  // namespace rung::vgpu
