// Translation of comparisons, selections and logic of predicates (PTX ISA, 9.7.6). The 32 lanes of
// a predicate are the bits of one word of the frame.

#include "vgpu/native/emission.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Operand;

}  // namespace

void Emission::select() {
  each_part([&](int part) {
    const Vector yes = c.read(source(1, part)), no = c.read(source(2, part)), to = c.fresh();
    c.set_mask_to_predicate(row(3), bytes_of(type), part);
    c.blend(to, no, yes, bytes_of(type));
    write(part, to);
  });
}

void Emission::compare() {
  const Combination combination(instr_.imm);
  const int a = combination.sources();
  bool holds = true;  // set bits mean true
  each_part([&](int part) {
    const Vector left = read(a, part);
    const Operand& right = any(a + 1, part);
    holds = c.compare(type, left, right, instr_.native.relation);
    const Xbyak::Reg32 bits = part == 0 ? c.eax : c.ecx;
    c.read_mask(bits, bytes_of(type));
    if (part == 0) return;
    c.shl(c.ecx, part * c.vectors().bytes / bytes_of(type));
    c.or_(c.eax, c.ecx);
  });
  if (!holds) c.not_(c.eax);
  combine(combination);
}

void Emission::combine(const Combination& combination) {
  for (int destination = 0; destination < combination.sources(); ++destination) {
    if (destination == 1) c.not_(c.eax);
    c.mov(c.ecx, c.eax);
    if (combination.used) {
      c.read_predicate(c.edx, row(combination.sources() + 2));
      if (combination.negated) c.not_(c.edx);
      switch (combination.with) {
        case Combination::With::conjunction: c.and_(c.ecx, c.edx); break;
        case Combination::With::disjunction: c.or_(c.ecx, c.edx); break;
        case Combination::With::exclusion: c.xor_(c.ecx, c.edx); break;
      }
    }
    // The second result of a pair needs the original value of the third predicate.
    if (combination.pair && destination == 0) {
      c.mov(c.r10d, c.ecx);
    } else {
      c.write_predicate(row(destination), c.ecx);
    }
  }
  if (combination.pair) c.write_predicate(row(0), c.r10d);
}

void Emission::predicate() {
  const auto source = [&](int operand, const Xbyak::Reg32& to) {
    c.read_predicate(to, row(operand));
    if (((instr_.imm >> operand) & 1) != 0) c.not_(to);
  };
  source(1, c.ecx);
  switch (instr_.native.op) {
    case NativeOp::predicate_not: c.not_(c.ecx); break;
    case NativeOp::predicate_and: source(2, c.eax), c.and_(c.ecx, c.eax); break;
    case NativeOp::predicate_or: source(2, c.eax), c.or_(c.ecx, c.eax); break;
    case NativeOp::predicate_xor: source(2, c.eax), c.xor_(c.ecx, c.eax); break;
    default: break;
  }
  c.write_predicate(row(0), c.ecx);
}

}  // namespace rung::vgpu::native
