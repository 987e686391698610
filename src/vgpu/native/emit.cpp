// The CPU's instructions for each operation. A row of 32-bit lanes is two vectors, one of 64-bit
// lanes is four.

#include "vgpu/native/emit.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "vgpu/engine/compare/compare.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Operand;
using Xbyak::Opmask;
using Xbyak::Ymm;
using Xbyak::Zmm;
using Nan = Emitter::Nan;

Line line_of(std::uint32_t row, int part) {
  return row / line_bytes + static_cast<std::uint32_t>(part);
}
int parts_of(NativeType type) { return bytes_of(type) * warp_size / static_cast<int>(line_bytes); }
Lanes lanes_of(NativeType type, int part) {
  return {static_cast<std::uint8_t>(bytes_of(type)), static_cast<std::uint8_t>(part)};
}
/// NaN of f64 stay as the CPU makes them.
Nan nan_of(NativeType type) { return type == NativeType::f32 ? Nan::any : Nan::canonical; }

bool on_predicates(NativeOp op) { return op >= NativeOp::predicate_move; }

/// One instruction, with shorter names for its operands.
class Emission {
 public:
  Emission(Emitter& to, const Constants& constants, const Instr& instr)
      : c(to), constants_(constants), instr_(instr), type(instr.native.type) {}

  void run();

 private:
  std::uint32_t row(int operand) const { return instr_.row[static_cast<std::size_t>(operand)]; }
  Line line(int operand, int part) const { return line_of(row(operand), part); }
  Zmm read(int operand, int part) { return c.read(line(operand, part), nan_of(type)); }
  const Operand& any(int operand, int part) {
    return c.read_any(line(operand, part), nan_of(type));
  }
  Zmm take(int operand, int part) { return c.take(line(operand, part), nan_of(type)); }
  void write(int part, const Zmm& value, Nan nan = Nan::canonical) {
    c.write(line(0, part), value, lanes_of(instr_.native.result, part), nan);
  }
  template <class F>
  void each_part(const F& f) {
    for (int part = 0; part < parts_of(type); ++part) f(part);
  }
  Zmm zero();
  /// The number in every 32-bit lane of a register.
  Zmm words(std::uint32_t bits);
  /// Eight lanes of a 32-bit row, from lane 8 * eighth on, in the lower half of a register.
  Ymm eighth(int operand, int part);
  /// The same, extended to 64 bits.
  Zmm widened(int operand, int part, bool sign);

  void sum();
  void product();
  void high_product();
  void wide_product();
  void multiply_add();
  void sign();
  void extreme();
  void float_extreme();
  void bitwise();
  void shift();
  void lop3();
  void add_offset();
  void resize();
  void to_float();
  void to_double();
  void truncate();
  void quotient();
  void approximate();
  void select();
  void load_parameter();
  void compare();
  void combine(const Combination& combination);
  void predicate();

  Emitter& c;
  const Constants& constants_;
  const Instr& instr_;
  const NativeType type;
};

Zmm Emission::zero() {
  const Zmm result = c.fresh();
  c.vpxord(result, result, result);
  return result;
}

Zmm Emission::words(std::uint32_t bits) {
  const Zmm result = c.fresh();
  c.mov(c.eax, bits);
  c.vpbroadcastd(result, c.eax);
  return result;
}

Ymm Emission::eighth(int operand, int part) {
  const Zmm whole = c.read(line(operand, part / 2), Nan::canonical);
  if (part % 2 == 0) return Ymm(whole.getIdx());
  const Ymm upper(c.fresh().getIdx());
  c.vextracti64x4(upper, whole, 1);
  return upper;
}

Zmm Emission::widened(int operand, int part, bool sign) {
  const Ymm words = eighth(operand, part);
  const Zmm result = c.fresh();
  if (sign) {
    c.vpmovsxdq(result, words);
  } else {
    c.vpmovzxdq(result, words);
  }
  return result;
}

void Emission::sum() {
  const bool adds = instr_.native.op == NativeOp::add;
  each_part([&](int part) {
    const Zmm a = read(1, part);
    const Operand& b = any(2, part);
    const Zmm to = c.fresh();
    switch (type) {
      case NativeType::f32: adds ? c.vaddps(to, a, b) : c.vsubps(to, a, b); break;
      case NativeType::f64: adds ? c.vaddpd(to, a, b) : c.vsubpd(to, a, b); break;
      case NativeType::u32:
      case NativeType::s32: adds ? c.vpaddd(to, a, b) : c.vpsubd(to, a, b); break;
      default: adds ? c.vpaddq(to, a, b) : c.vpsubq(to, a, b);
    }
    write(part, to, nan_of(type));
  });
}

void Emission::product() {
  each_part([&](int part) {
    const Zmm a = read(1, part);
    const Operand& b = any(2, part);
    const Zmm to = c.fresh();
    switch (type) {
      case NativeType::f32: c.vmulps(to, a, b); break;
      case NativeType::f64: c.vmulpd(to, a, b); break;
      case NativeType::u32:
      case NativeType::s32: c.vpmulld(to, a, b); break;
      default: c.vpmullq(to, a, b);
    }
    write(part, to, nan_of(type));
  });
}

/// The upper halves of the products of even lanes and of odd lanes.
void Emission::high_product() {
  constexpr std::uint8_t word = 32;
  constexpr int odd_lanes = 0xAAAA;
  each_part([&](int part) {
    const Zmm a = read(1, part), b = read(2, part), even = c.fresh(), odd = c.fresh(),
              shifted = c.fresh();
    c.vpsrlq(odd, a, word);
    c.vpsrlq(shifted, b, word);
    is_signed(type) ? c.vpmuldq(odd, odd, shifted) : c.vpmuludq(odd, odd, shifted);
    is_signed(type) ? c.vpmuldq(even, a, b) : c.vpmuludq(even, a, b);
    c.vpsrlq(even, even, word);
    c.mov(c.eax, odd_lanes);
    c.kmovw(Emitter::scratch_mask(), c.eax);
    c.vmovdqa32(even | Emitter::scratch_mask(), odd);
    write(part, even);
  });
}

void Emission::wide_product() {
  const bool adds = instr_.native.op == NativeOp::mad_wide;
  const bool sign = is_signed(type);
  for (int part = 0; part < parts_of(instr_.native.result); ++part) {
    const Zmm a = widened(1, part, sign), b = widened(2, part, sign);
    sign ? c.vpmuldq(a, a, b) : c.vpmuludq(a, a, b);
    if (adds) c.vpaddq(a, a, c.read_any(line(3, part)));
    write(part, a);
  }
}

void Emission::multiply_add() {
  each_part([&](int part) {
    const Zmm a = read(1, part);
    const Operand& b = any(2, part);
    if (is_float(type)) {
      const Zmm to = take(3, part);
      type == NativeType::f32 ? c.vfmadd231ps(to, a, b) : c.vfmadd231pd(to, a, b);
      return write(part, to, nan_of(type));
    }
    const Zmm to = c.fresh();
    if (bytes_of(type) == 4) {
      c.vpmulld(to, a, b);
      c.vpaddd(to, to, any(3, part));
    } else {
      c.vpmullq(to, a, b);
      c.vpaddq(to, to, any(3, part));
    }
    write(part, to);
  });
}

/// neg and abs.
void Emission::sign() {
  const bool negates = instr_.native.op == NativeOp::neg;
  const Zmm constant = is_float(type) ? words(negates ? 0x80000000u : 0x7FFFFFFFu) : zero();
  each_part([&](int part) {
    const Zmm a = read(1, part);
    const Zmm to = c.fresh();
    if (is_float(type)) {
      negates ? c.vpxord(to, a, constant) : c.vpandd(to, a, constant);
    } else if (bytes_of(type) == 4) {
      negates ? c.vpsubd(to, constant, a) : c.vpabsd(to, a);
    } else {
      negates ? c.vpsubq(to, constant, a) : c.vpabsq(to, a);
    }
    write(part, to, nan_of(type));
  });
}

void Emission::extreme() {
  if (is_float(type)) return float_extreme();
  const bool smaller = instr_.native.op == NativeOp::min;
  each_part([&](int part) {
    const Zmm a = read(1, part);
    const Operand& b = any(2, part);
    const Zmm to = c.fresh();
    switch (type) {
      case NativeType::u32: smaller ? c.vpminud(to, a, b) : c.vpmaxud(to, a, b); break;
      case NativeType::s32: smaller ? c.vpminsd(to, a, b) : c.vpmaxsd(to, a, b); break;
      case NativeType::u64: smaller ? c.vpminuq(to, a, b) : c.vpmaxuq(to, a, b); break;
      default: smaller ? c.vpminsq(to, a, b) : c.vpmaxsq(to, a, b);
    }
    write(part, to);
  });
}

/// The CPU's minimum returns its second operand if the numbers are equal, or one is NaN; PTX orders
/// zeros by their sign, and prefers the other operand to NaN (engine/numbers/float_bits.hpp).
void Emission::float_extreme() {
  const bool smaller = instr_.native.op == NativeOp::min;
  constexpr std::uint8_t equal = 0x00, unordered = 0x03;
  each_part([&](int part) {
    const Zmm a = read(1, part), b = read(2, part), to = c.fresh(), both = c.fresh();
    smaller ? c.vminps(to, a, b) : c.vmaxps(to, a, b);
    smaller ? c.vpord(both, a, b) : c.vpandd(both, a, b);
    const Opmask k = Emitter::scratch_mask();
    c.vcmpps(k, a, b, equal);
    c.vmovaps(to | k, both);
    c.vcmpps(k, b, b, unordered);
    c.vmovaps(to | k, a);
    write(part, to, Nan::any);
  });
}

void Emission::bitwise() {
  each_part([&](int part) {
    const Zmm a = c.read(line(1, part));
    const Zmm to = c.fresh();
    switch (instr_.native.op) {
      case NativeOp::and_: c.vpandd(to, a, c.read_any(line(2, part))); break;
      case NativeOp::or_: c.vpord(to, a, c.read_any(line(2, part))); break;
      case NativeOp::xor_: c.vpxord(to, a, c.read_any(line(2, part))); break;
      default: c.vpternlogd(to, a, a, 0x55);  // the complement of the last operand
    }
    write(part, to);
  });
}

/// Amounts are 32 bits wide, and clamp: so do those of the CPU.
void Emission::shift() {
  const bool left = instr_.native.op == NativeOp::shl;
  const bool sign = is_signed(type) && !left;
  const bool wide = bytes_of(type) == 8;
  const std::uint64_t* constant = constants_.find(row(2));
  each_part([&](int part) {
    const Zmm a = c.read(line(1, part));
    if (constant != nullptr) {
      const Zmm to = c.fresh();
      const auto amount = static_cast<std::uint8_t>(
          std::min<std::uint64_t>(static_cast<std::uint32_t>(*constant), 255));
      if (left) {
        wide ? c.vpsllq(to, a, amount) : c.vpslld(to, a, amount);
      } else if (sign) {
        wide ? c.vpsraq(to, a, amount) : c.vpsrad(to, a, amount);
      } else {
        wide ? c.vpsrlq(to, a, amount) : c.vpsrld(to, a, amount);
      }
      return write(part, to);
    }
    const Zmm amount = wide ? widened(2, part, false) : c.read(line(2, part));
    const Zmm to = c.fresh();
    if (left) {
      wide ? c.vpsllvq(to, a, amount) : c.vpsllvd(to, a, amount);
    } else if (sign) {
      wide ? c.vpsravq(to, a, amount) : c.vpsravd(to, a, amount);
    } else {
      wide ? c.vpsrlvq(to, a, amount) : c.vpsrlvd(to, a, amount);
    }
    write(part, to);
  });
}

/// PTX and the CPU number the bits of the table alike.
void Emission::lop3() {
  each_part([&](int part) {
    const Zmm b = read(2, part);
    const Operand& third = any(3, part);
    const Zmm to = take(1, part);
    c.vpternlogd(to, b, third, static_cast<std::uint8_t>(instr_.imm));
    write(part, to);
  });
}

void Emission::add_offset() {
  each_part([&](int part) {
    if (instr_.imm == 0) return c.copy(line(0, part), line(1, part), lanes_of(type, part));
    const Zmm a = read(1, part), to = c.fresh();
    c.mov(c.rax, instr_.imm);
    c.vpbroadcastq(to, c.rax);
    c.vpaddq(to, to, a);
    write(part, to);
  });
}

void Emission::resize() {
  const NativeType result = instr_.native.result;
  if (bytes_of(type) == bytes_of(result)) {
    each_part([&](int part) { c.copy(line(0, part), line(1, part), lanes_of(type, part)); });
  } else if (bytes_of(result) == 8) {
    for (int part = 0; part < parts_of(result); ++part) {
      write(part, widened(1, part, is_signed(type)));
    }
  } else {
    for (int part = 0; part < parts_of(result); ++part) {
      const Zmm low = c.read(line(1, 2 * part)), high = c.read(line(1, 2 * part + 1));
      const Zmm to = c.fresh(), upper = c.fresh();
      c.vpmovqd(Ymm(to.getIdx()), low);
      c.vpmovqd(Ymm(upper.getIdx()), high);
      c.vinserti64x4(to, to, Ymm(upper.getIdx()), 1);
      write(part, to);
    }
  }
}

void Emission::to_float() {
  if (type == NativeType::f64) {
    for (int part = 0; part < 2; ++part) {
      const Zmm low = c.read(line(1, 2 * part)), high = c.read(line(1, 2 * part + 1));
      const Zmm to = c.fresh(), upper = c.fresh();
      c.vcvtpd2ps(Ymm(to.getIdx()), low);
      c.vcvtpd2ps(Ymm(upper.getIdx()), high);
      c.vinserti64x4(to, to, Ymm(upper.getIdx()), 1);
      write(part, to);
    }
    return;
  }
  each_part([&](int part) {
    const Operand& a = any(1, part);
    const Zmm to = c.fresh();
    is_signed(type) ? c.vcvtdq2ps(to, a) : c.vcvtudq2ps(to, a);
    write(part, to);
  });
}

void Emission::to_double() {
  for (int part = 0; part < 4; ++part) {
    const Ymm words = eighth(1, part);
    const Zmm to = c.fresh();
    if (type == NativeType::f32) {
      c.vcvtps2pd(to, words);
    } else {
      is_signed(type) ? c.vcvtdq2pd(to, words) : c.vcvtudq2pd(to, words);
    }
    write(part, to);
  }
}

/// Numbers beyond the range become the nearest integer, and NaN becomes 0, where the CPU has one
/// result for all of them.
void Emission::truncate() {
  constexpr std::uint8_t less = 0x11, not_less = 0x15, unordered = 0x03;
  const bool sign = is_signed(instr_.native.result);
  const Zmm none = zero();
  const Zmm limit = words(sign ? 0x4F000000u : 0u);  // 2^31
  const Zmm most = sign ? words(0x7FFFFFFFu) : none;
  each_part([&](int part) {
    const Zmm a = read(1, part), to = c.fresh();
    const Opmask k = Emitter::scratch_mask();
    sign ? c.vcvttps2dq(to, a) : c.vcvttps2udq(to, a);
    c.vcmpps(k, a, limit, sign ? not_less : less);
    c.vmovaps(to | k, most);
    c.vcmpps(k, a, a, unordered);
    c.vmovaps(to | k, none);
    write(part, to);
  });
}

/// div, rcp and sqrt, rounded correctly.
void Emission::quotient() {
  const Zmm one = instr_.native.op == NativeOp::rcp ? words(0x3F800000u) : Zmm(0);
  each_part([&](int part) {
    const Zmm a = read(1, part);
    if (instr_.native.op == NativeOp::div) {
      const Operand& b = any(2, part);
      const Zmm to = c.fresh();
      c.vdivps(to, a, b);
      return write(part, to, Nan::any);
    }
    const Zmm to = c.fresh();
    if (instr_.native.op == NativeOp::rcp) {
      c.vdivps(to, one, a);
    } else {
      c.vsqrtps(to, a);
    }
    write(part, to, Nan::any);
  });
}

/// rcp, sqrt and rsqrt as the handlers compute them: in f64, and rounded.
void Emission::approximate() {
  const NativeOp op = instr_.native.op;
  const Zmm one = c.fresh();
  c.mov(c.rax, std::bit_cast<std::uint64_t>(1.0));
  c.vpbroadcastq(one, c.rax);
  for (int part = 0; part < 2; ++part) {
    Zmm half[2];
    for (int i = 0; i < 2; ++i) {
      half[i] = c.fresh();
      c.vcvtps2pd(half[i], eighth(1, 2 * part + i));
      if (op != NativeOp::rcp_approx) c.vsqrtpd(half[i], half[i]);
      if (op != NativeOp::sqrt_approx) c.vdivpd(half[i], one, half[i]);
      c.vcvtpd2ps(Ymm(half[i].getIdx()), half[i]);
    }
    c.vinserti64x4(half[0], half[0], Ymm(half[1].getIdx()), 1);
    write(part, half[0], Nan::any);
  }
}

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

void Emission::load_parameter() {
  const auto& op = instr_.op<MemoryOp>();
  c.mov(c.r10, c.ptr[c.rdi + offsetof(Warp, parameters)]);
  for (int e = 0; e < op.count; ++e) {
    const Xbyak::Address from = c.ptr[c.r10 + static_cast<int>(op.offset) + e * op.bytes];
    const Zmm to = c.fresh();
    bytes_of(type) == 4 ? c.vpbroadcastd(to, from) : c.vpbroadcastq(to, from);
    for (int part = 0; part < parts_of(type); ++part) {
      c.write(line_of(instr_.rows[e], part), to, lanes_of(type, part));
    }
  }
}

/// setp: the result, one bit per lane, in eax.
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

/// Combines eax with the third predicate, and writes it and, for a pair, its complement combined.
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

void Emission::run() {
  switch (instr_.native.op) {
    case NativeOp::none: break;
    case NativeOp::move:
      each_part([&](int part) { c.copy(line(0, part), line(1, part), lanes_of(type, part)); });
      break;
    case NativeOp::add:
    case NativeOp::sub: sum(); break;
    case NativeOp::mul: product(); break;
    case NativeOp::mul_high: high_product(); break;
    case NativeOp::mul_wide:
    case NativeOp::mad_wide: wide_product(); break;
    case NativeOp::mad: multiply_add(); break;
    case NativeOp::neg:
    case NativeOp::abs: sign(); break;
    case NativeOp::min:
    case NativeOp::max: extreme(); break;
    case NativeOp::and_:
    case NativeOp::or_:
    case NativeOp::xor_:
    case NativeOp::not_: bitwise(); break;
    case NativeOp::shl:
    case NativeOp::shr: shift(); break;
    case NativeOp::lop3: lop3(); break;
    case NativeOp::add_offset: add_offset(); break;
    case NativeOp::resize: resize(); break;
    case NativeOp::to_float: to_float(); break;
    case NativeOp::to_double: to_double(); break;
    case NativeOp::truncate: truncate(); break;
    case NativeOp::rcp:
    case NativeOp::sqrt:
    case NativeOp::div: quotient(); break;
    case NativeOp::rsqrt:
    case NativeOp::rcp_approx:
    case NativeOp::sqrt_approx: approximate(); break;
    case NativeOp::selp: select(); break;
    case NativeOp::load_parameter: load_parameter(); break;
    case NativeOp::setp: compare(); break;
    case NativeOp::predicate_move:
    case NativeOp::predicate_not:
    case NativeOp::predicate_and:
    case NativeOp::predicate_or:
    case NativeOp::predicate_xor: predicate(); break;
  }
}

/// How many operands of the instruction are rows of numbers: one destination, then the sources.
int sources_of(NativeOp op) {
  switch (op) {
    case NativeOp::move:
    case NativeOp::neg:
    case NativeOp::abs:
    case NativeOp::not_:
    case NativeOp::add_offset:
    case NativeOp::resize:
    case NativeOp::to_float:
    case NativeOp::to_double:
    case NativeOp::truncate:
    case NativeOp::rcp:
    case NativeOp::sqrt:
    case NativeOp::rsqrt:
    case NativeOp::rcp_approx:
    case NativeOp::sqrt_approx: return 1;
    case NativeOp::mad:
    case NativeOp::mad_wide:
    case NativeOp::lop3: return 3;
    default: return 2;
  }
}

}  // namespace

Constants::Constants(const Kernel& kernel) {
  for (const ConstantRow& row : kernel.constants) bits_[row.offset] = row.bits;
}

const std::uint64_t* Constants::find(std::uint32_t row) const {
  const auto found = bits_.find(row);
  return found == bits_.end() ? nullptr : &found->second;
}

void plan(Plan& plan, const Instr& instr) {
  const Native native = instr.native;
  if (on_predicates(native.op)) return;
  const bool compares = native.op == NativeOp::setp;
  const int first = compares ? Combination(instr.imm).sources() : 1;
  const auto lines = [&](int operand, NativeType type, const auto& event) {
    for (int part = 0; part < parts_of(type); ++part) event(line_of(instr.rows[operand], part));
  };
  if (native.op == NativeOp::load_parameter) {
    for (int e = 0; e < instr.op<MemoryOp>().count; ++e) {
      lines(e, native.type, [&](Line line) { plan.writes(line); });
    }
    return;
  }
  for (int i = 0; i < sources_of(native.op); ++i) {
    const bool amount = i == 1 && (native.op == NativeOp::shl || native.op == NativeOp::shr);
    const bool addend = i == 2 && native.op == NativeOp::mad_wide;
    const NativeType type = amount ? NativeType::u32 : addend ? native.result : native.type;
    lines(first + i, type, [&](Line line) { plan.reads(line); });
  }
  if (!compares) lines(0, native.result, [&](Line line) { plan.writes(line); });
}

void emit(Emitter& to, const Constants& constants, const Instr& instr) {
  Emission(to, constants, instr).run();
}

}  // namespace rung::vgpu::native
