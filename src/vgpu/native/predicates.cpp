// Comparisons, selections and logic of predicates (PTX ISA, 9.7.6), whose 32 lanes are the bits of
// one word of the frame.

#include "vgpu/native/emission.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Operand;
using Xbyak::Opmask;
using Xbyak::Zmm;

}  // namespace

void Emission::select() {
  each_part([&](int part) {
    const Zmm yes = c.read(line(1, part)), no = c.read(line(2, part)), to = c.fresh();
    const Opmask k = Emitter::scratch_mask();
    if (bytes_of(type) == 4) {
      c.kmovw(k, c.predicate(row(3), 16 * part));
      c.vblendmps(to | k, no, yes);
    } else {
      c.kmovb(k, c.predicate(row(3), 8 * part));
      c.vblendmpd(to | k, no, yes);
    }
    write(part, to);
  });
}

void Emission::compare() {
  const Combination combination(instr_.imm);
  const int a = combination.sources();
  const std::uint8_t relation = instr_.native.relation;
  each_part([&](int part) {
    const Zmm left = read(a, part);
    const Operand& right = any(a + 1, part);
    const Opmask k = Emitter::scratch_mask();
    switch (type) {
      case NativeType::f32: c.vcmpps(k, left, right, relation); break;
      case NativeType::f64: c.vcmppd(k, left, right, relation); break;
      case NativeType::u32: c.vpcmpud(k, left, right, relation); break;
      case NativeType::s32: c.vpcmpd(k, left, right, relation); break;
      case NativeType::u64: c.vpcmpuq(k, left, right, relation); break;
      case NativeType::s64: c.vpcmpq(k, left, right, relation); break;
    }
    const Xbyak::Reg32 bits = part == 0 ? c.eax : c.ecx;
    bytes_of(type) == 4 ? c.kmovw(bits, k) : c.kmovb(bits, k);
    if (part == 0) return;
    c.shl(c.ecx, part * 32 / parts_of(type));
    c.or_(c.eax, c.ecx);
  });
  combine(combination);
}

void Emission::combine(const Combination& combination) {
  for (int destination = 0; destination < combination.sources(); ++destination) {
    if (destination == 1) c.not_(c.eax);
    c.mov(c.ecx, c.eax);
    if (combination.used) {
      c.mov(c.edx, c.dword[c.frame + row(combination.sources() + 2)]);
      if (combination.negated) c.not_(c.edx);
      switch (combination.with) {
        case Combination::With::conjunction: c.and_(c.ecx, c.edx); break;
        case Combination::With::disjunction: c.or_(c.ecx, c.edx); break;
        case Combination::With::exclusion: c.xor_(c.ecx, c.edx); break;
      }
    }
    // Of a pair, the second result needs the third predicate as it was.
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
    c.mov(to, c.dword[c.frame + row(operand)]);
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
