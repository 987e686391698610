#include "vgpu/native/assembler.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "vgpu/native/numbers.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Operand;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Xbyak::Zmm;

constexpr std::size_t code_bytes = 4096;  // initial size; it grows
constexpr std::uint8_t word_bits = 32, highest_bit = 63;

}  // namespace

alignas(32) constexpr Numbers Numbers::all;

Assembler::Assembler(const Vectors& vectors)
    : Xbyak::CodeGenerator(code_bytes, Xbyak::AutoGrow), vectors_(vectors) {}

Vector Assembler::vector(int index) const {
  if (has_avx512()) return Zmm(index);
  return Ymm(index);
}

Vector Assembler::lower_half(const Vector& whole) const {
  if (has_avx512()) return Ymm(whole.getIdx());
  return Xmm(whole.getIdx());
}

void Assembler::extract_upper_half(const Vector& half, const Vector& whole) {
  if (has_avx512()) {
    vextracti64x4(half, Zmm(whole.getIdx()), 1);
  } else {
    vextracti128(half, Ymm(whole.getIdx()), 1);
  }
}

void Assembler::insert_upper_half(const Vector& whole, const Vector& half) {
  const int index = whole.getIdx();
  if (has_avx512()) {
    vinserti64x4(Zmm(index), Zmm(index), half, 1);
  } else {
    vinserti128(Ymm(index), Ymm(index), half, 1);
  }
}

Xbyak::Address Assembler::vector_at(const Xbyak::RegExp& address) const {
  return has_avx512() ? zword[address] : yword[address];
}

Xbyak::Address Assembler::number(std::size_t offset) const {
  return yword[numbers + static_cast<int>(offset)];
}

void Assembler::load_numbers() {
  if (!has_avx512()) mov(numbers, reinterpret_cast<std::uint64_t>(&Numbers::all));
}

void Assembler::bitwise_and(const Vector& to, const Vector& a, const Operand& b) {
  has_avx512() ? vpandd(to, a, b) : vpand(to, a, b);
}
void Assembler::bitwise_or(const Vector& to, const Vector& a, const Operand& b) {
  has_avx512() ? vpord(to, a, b) : vpor(to, a, b);
}
void Assembler::bitwise_xor(const Vector& to, const Vector& a, const Operand& b) {
  has_avx512() ? vpxord(to, a, b) : vpxor(to, a, b);
}
void Assembler::bitwise_not(const Vector& to, const Vector& a) {
  if (has_avx512()) {
    vpternlogd(to, a, a, 0x55);  // complement of the last operand
  } else {
    vpxor(to, a, number(offsetof(Numbers, ones)));
  }
}

// f(a, b, c) = f(0, b, c) ^ (a & (f(0, b, c) ^ f(1, b, c))), bit by bit.
void Assembler::combine_bits(const Vector& to, const Vector& b, const Operand& c,
                             std::uint8_t table) {
  if (has_avx512()) return vpternlogd(to, b, c, table);
  const Vector without_a = temporary(1), difference = temporary(2);
  combine_two(without_a, b, c, table & 0xF);
  combine_two(difference, b, c, (table ^ (table >> 4)) & 0xF);
  vpand(difference, difference, to);
  vpxor(to, difference, without_a);
}

// Computes f(b, c) as a sum of products modulo 2 (I. I. Zhegalkin, Matematicheskii Sbornik 34,
// 1927).
void Assembler::combine_two(const Vector& to, const Vector& b, const Operand& c, int table) {
  const auto bit = [&](int at) { return table >> at & 1; };
  bit(0) != (bit(1) ^ bit(2) ^ bit(3)) ? vpand(to, b, c) : vpxor(to, to, to);
  if (bit(0) != bit(2)) vpxor(to, to, b);
  if (bit(0) != bit(1)) vpxor(to, to, c);
  if (bit(0) != 0) vpxor(to, to, number(offsetof(Numbers, ones)));
}

void Assembler::broadcast(const Vector& to, const Xbyak::Reg32& bits) {
  if (has_avx512()) return vpbroadcastd(to, bits);
  vmovd(Xmm(to.getIdx()), bits);
  vpbroadcastd(to, Xmm(to.getIdx()));
}

void Assembler::broadcast(const Vector& to, const Xbyak::Reg64& bits) {
  if (has_avx512()) return vpbroadcastq(to, bits);
  vmovq(Xmm(to.getIdx()), bits);
  vpbroadcastq(to, Xmm(to.getIdx()));
}

void Assembler::broadcast_double(const Vector& to, const Xbyak::RegExp& from) {
  vbroadcastsd(Ymm(to.getIdx(), to.getKind(), to.getBit()), ptr[from]);
}

const Xbyak::Opmask& Assembler::scratch_mask() {
  static const Xbyak::Opmask mask(7);
  return mask;
}

void Assembler::compare_floats(const Vector& a, const Operand& b, std::uint8_t relation) {
  if (has_avx512()) {
    vcmpps(scratch_mask(), a, b, relation);
  } else {
    vcmpps(temporary(0), a, b, relation);
  }
}

void Assembler::replace(const Vector& to, const Vector& value) {
  if (has_avx512()) {
    vmovaps(to | scratch_mask(), value);
  } else {
    vblendvps(to, to, value, temporary(0));
  }
}

bool Assembler::compare(NativeType type, const Vector& a, const Operand& b, std::uint8_t relation) {
  if (type == NativeType::f32) {
    compare_floats(a, b, relation);
    return true;
  }
  if (!has_avx512()) {
    if (type != NativeType::f64) return compare_integers(type, a, b, relation);
    vcmppd(temporary(0), a, b, relation);
    return true;
  }
  const Xbyak::Opmask& k = scratch_mask();
  switch (type) {
    case NativeType::f64: vcmppd(k, a, b, relation); break;
    case NativeType::u32: vpcmpud(k, a, b, relation); break;
    case NativeType::s32: vpcmpd(k, a, b, relation); break;
    case NativeType::u64: vpcmpuq(k, a, b, relation); break;
    default: vpcmpq(k, a, b, relation);
  }
  return true;
}

// AVX2 has `equal` and, for signed numbers, `greater`. Unsigned numbers have the same order after
// their highest bits are inverted.
bool Assembler::compare_integers(NativeType type, const Vector& a, const Operand& b,
                                 std::uint8_t relation) {
  constexpr std::uint8_t equal = 0, less = 1, complement = 4;
  const bool wide = bytes_of(type) == 8, holds = (relation & complement) == 0;
  const Vector mask = temporary(0);
  if ((relation & ~complement) == equal) {
    wide ? vpcmpeqq(mask, a, b) : vpcmpeqd(mask, a, b);
    return holds;
  }
  Vector left = a, right = temporary(1);
  if (is_signed(type)) {
    vmovups(right, b);
  } else {
    left = temporary(2);
    vmovups(left, wide ? number(offsetof(Numbers, highest_of_64))
                       : number(offsetof(Numbers, highest_of_32)));
    vpxor(right, left, b);
    vpxor(left, left, a);
  }
  const bool is_less = (relation & ~complement) == less;
  if (is_less) std::swap(left, right);
  wide ? vpcmpgtq(mask, left, right) : vpcmpgtd(mask, left, right);
  return holds == is_less;
}

void Assembler::read_mask(const Xbyak::Reg32& bits, int lane_bytes) {
  if (has_avx512()) {
    lane_bytes == 4 ? kmovw(bits, scratch_mask()) : kmovb(bits, scratch_mask());
  } else {
    lane_bytes == 4 ? vmovmskps(bits, temporary(0)) : vmovmskpd(bits, temporary(0));
  }
}

void Assembler::set_mask(const Xbyak::RegExp& bits, int lane_bytes, int part) {
  if (has_avx512()) {
    const Xbyak::Opmask& k = scratch_mask();
    lane_bytes == 4 ? kmovw(k, ptr[bits + 2 * part]) : kmovb(k, ptr[bits + part]);
    return;
  }
  // Shift each lane's bit to its sign position. For 64-bit lanes, it is in both halves.
  const std::size_t shifts = lane_bytes == 4 ? offsetof(Numbers, shifts_of_32)
                                             : offsetof(Numbers, shifts_of_64) +
                                                   static_cast<std::size_t>(part * vectors_.bytes);
  vpbroadcastb(temporary(0), byte[bits]);
  vpsllvd(temporary(0), temporary(0), number(shifts));
}

void Assembler::blend(const Vector& to, const Vector& no, const Vector& yes, int lane_bytes) {
  if (!has_avx512()) {
    vblendvps(to, no, yes, temporary(0));
  } else if (lane_bytes == 4) {
    vblendmps(to | scratch_mask(), no, yes);
  } else {
    vblendmpd(to | scratch_mask(), no, yes);
  }
}

void Assembler::multiply_doublewords(const Vector& to, const Vector& a, const Operand& b) {
  if (has_avx512()) return vpmullq(to, a, b);
  constexpr std::uint8_t other_halves = 0xB1;
  const Vector high = temporary(1), low = temporary(2);
  vpshufd(high, b, other_halves);
  vpmulld(high, high, a);
  vpsrlq(low, high, word_bits);
  vpaddd(high, high, low);
  vpsllq(high, high, word_bits);
  vpmuludq(low, a, b);
  vpaddq(to, low, high);
}

// (x ^ s) - s, where s is the bit to which the sign is shifted, copies the sign to all higher bits.
void Assembler::shift_right_signed(const Vector& to, const Vector& a, std::uint8_t amount) {
  if (has_avx512()) return vpsraq(to, a, amount);
  const std::uint8_t least = std::min(amount, highest_bit);
  const Vector sign = temporary(1);
  vmovups(sign, number(offsetof(Numbers, highest_of_64)));
  vpsrlq(sign, sign, least);
  vpsrlq(to, a, least);
  vpxor(to, to, sign);
  vpsubq(to, to, sign);
}

void Assembler::shift_right_signed(const Vector& to, const Vector& a, const Vector& amounts) {
  if (has_avx512()) return vpsravq(to, a, amounts);
  const Vector sign = temporary(1), least = temporary(2);
  vpminud(least, amounts, number(offsetof(Numbers, max_shift)));
  vmovups(sign, number(offsetof(Numbers, highest_of_64)));
  vpsrlvq(sign, sign, least);
  vpsrlvq(to, a, least);
  vpxor(to, to, sign);
  vpsubq(to, to, sign);
}

void Assembler::absolute_doublewords(const Vector& to, const Vector& a) {
  if (has_avx512()) return vpabsq(to, a);
  const Vector negative = temporary(1);
  vpxor(negative, negative, negative);
  vpsubq(negative, negative, a);
  vblendvpd(to, a, negative, a);
}

void Assembler::extreme_doublewords(const Vector& to, const Vector& a, const Operand& b,
                                    bool smaller, bool sign) {
  if (has_avx512()) {
    if (sign) return smaller ? vpminsq(to, a, b) : vpmaxsq(to, a, b);
    return smaller ? vpminuq(to, a, b) : vpmaxuq(to, a, b);
  }
  constexpr std::uint8_t greater = 6;
  vmovups(to, b);
  compare_integers(sign ? NativeType::s64 : NativeType::u64, a, to, greater);
  smaller ? vblendvpd(to, a, to, temporary(0)) : vblendvpd(to, to, a, temporary(0));
}

void Assembler::narrow(const Vector& to, const Vector& spare, const Vector& low,
                       const Vector& high) {
  if (has_avx512()) {
    vpmovqd(lower_half(to), low);
    vpmovqd(lower_half(spare), high);
    return insert_upper_half(to, lower_half(spare));
  }
  // even words, then the inner pairs of words swapped
  constexpr std::uint8_t even = 0x88, inner_swapped = 0xD8;
  vshufps(to, low, high, even);
  vpermq(Ymm(to.getIdx()), to, inner_swapped);
}

// Upper 16 bits times 2^16, plus lower 16 bits. Both are exact, so the sum is rounded once.
void Assembler::unsigned_to_float(const Vector& to, const Operand& a) {
  if (has_avx512()) return vcvtudq2ps(to, a);
  constexpr std::uint8_t half_word = 16;
  const Vector low = temporary(1);
  vmovups(low, a);
  vpsrld(to, low, half_word);
  vpslld(low, low, half_word);
  vpsrld(low, low, half_word);
  vcvtdq2ps(to, to);
  vcvtdq2ps(low, low);
  vfmadd132ps(to, low, number(offsetof(Numbers, float_2_16)));
}

// The low bits of 2^52 + a.
void Assembler::unsigned_to_double(const Vector& to, const Vector& a) {
  if (has_avx512()) return vcvtudq2pd(to, a);
  vpmovzxdq(to, a);
  vpor(to, to, number(offsetof(Numbers, double_2_52)));
  vsubpd(to, to, number(offsetof(Numbers, double_2_52)));
}

// Values beyond s32 are reduced by 2^31 and converted separately.
void Assembler::float_to_unsigned(const Vector& to, const Vector& a) {
  constexpr std::uint8_t sign = 31, at_least = 0x1D;
  const Vector rest = temporary(1), positive = temporary(2), mask = temporary(0);
  vxorps(positive, positive, positive);
  vmaxps(positive, a, positive);  // returns the second operand if one is NaN
  vcvttps2dq(to, positive);
  vsubps(rest, positive, number(offsetof(Numbers, float_2_31)));
  vcvttps2dq(rest, rest);
  vpsrad(mask, to, sign);
  vpand(rest, rest, mask);
  vpor(to, to, rest);
  vcmpps(mask, positive, number(offsetof(Numbers, float_2_32)), at_least);
  vpor(to, to, mask);
}

void Assembler::scale(const Vector& to, const Vector& n) {
  if (has_avx512()) return vscalefpd(to, to, n);
  constexpr std::uint8_t exponent = 52;
  const Vector whole = temporary(1);
  vcvtpd2dq(lower_half(whole), n);
  vpmovsxdq(whole, lower_half(whole));
  vpsllq(whole, whole, exponent);
  vpaddq(to, to, whole);
}

}  // namespace rung::vgpu::native
