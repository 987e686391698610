// mov and logic of predicates, whose 32 lanes are the bits of one word. Bit i of the immediate is
// set if operand i is negated.

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/compare/compare.hpp"

namespace rung::vgpu {

namespace {

Mask source(Warp& warp, const Instr& instr, int operand) {
  const Mask bits = warp.predicate(instr.row[static_cast<std::size_t>(operand)]);
  return ((instr.imm >> operand) & 1) != 0 ? ~bits : bits;
}

void write(Warp& warp, const Instr& instr, Mask result) {
  Mask& row = warp.predicate(instr.row[0]);
  row = blend(warp.mask, result, row);
}

void move(Warp& warp, const Instr& instr) { write(warp, instr, source(warp, instr, 1)); }
void invert(Warp& warp, const Instr& instr) { write(warp, instr, ~source(warp, instr, 1)); }
void conjunction(Warp& warp, const Instr& instr) {
  write(warp, instr, source(warp, instr, 1) & source(warp, instr, 2));
}
void disjunction(Warp& warp, const Instr& instr) {
  write(warp, instr, source(warp, instr, 1) | source(warp, instr, 2));
}
void exclusion(Warp& warp, const Instr& instr) {
  write(warp, instr, source(warp, instr, 1) ^ source(warp, instr, 2));
}

OpSpec spec(Handler handler, std::size_t operands) {
  return {handler, handler, std::vector<ptx::Type>(operands, ptx::Type::pred)};
}

}  // namespace

void add_predicate_logic(OpTable& table) {
  table.add({"mov.pred"}, spec(move, 2));
  table.add({"not.pred"}, spec(invert, 2));
  table.add({"and.pred"}, spec(conjunction, 3));
  table.add({"or.pred"}, spec(disjunction, 3));
  table.add({"xor.pred"}, spec(exclusion, 3));
}

}  // namespace rung::vgpu
