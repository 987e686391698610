#pragma once
// Operations on vectors that AVX-512 and AVX2 have different instructions for. Those that both have
// are emitted for the size of the registers that they are given.

#include <xbyak/xbyak.h>

#include <cstddef>
#include <cstdint>

#include "vgpu/native/vectors.hpp"

namespace rung::vgpu::native {

/// A register of either size.
using Vector = Xbyak::Xmm;

class Assembler : public Xbyak::CodeGenerator {
 public:
  explicit Assembler(const Vectors& vectors);

  const Vectors& vectors() const { return vectors_; }
  bool has_avx512() const { return vectors_ == avx512; }

  Vector vector(int index) const;
  /// Three registers that no line occupies. On AVX2, the operations below may change the last two.
  Vector temporary(int index) const { return vector(vectors_.registers + index); }
  /// The register's lower half.
  Vector lower_half(const Vector& whole) const;
  void extract_upper_half(const Vector& half, const Vector& whole);
  void insert_upper_half(const Vector& whole, const Vector& half);
  Xbyak::Address vector_at(const Xbyak::RegExp& address) const;

  void bitwise_and(const Vector& to, const Vector& a, const Xbyak::Operand& b);
  void bitwise_or(const Vector& to, const Vector& a, const Xbyak::Operand& b);
  void bitwise_xor(const Vector& to, const Vector& a, const Xbyak::Operand& b);
  void bitwise_not(const Vector& to, const Vector& a);
  /// LOP3: `to` is the first operand and the result.
  void combine_bits(const Vector& to, const Vector& b, const Xbyak::Operand& c, std::uint8_t table);

  /// The number in each lane.
  void broadcast(const Vector& to, const Xbyak::Reg32& number);
  void broadcast(const Vector& to, const Xbyak::Reg64& number);
  void broadcast_double(const Vector& to, const Xbyak::RegExp& from);

  // Masks. There is one, which each of these functions sets or uses: an opmask or, on AVX2, the sign
  // bits of lanes in the first temporary.
  /// `relation`: of VCMPPS.
  void compare_floats(const Vector& a, const Xbyak::Operand& b, std::uint8_t relation);
  /// `relation`: of VCMPPS or VPCMPD. False if the mask is set where it does not hold.
  bool compare(NativeType type, const Vector& a, const Xbyak::Operand& b, std::uint8_t relation);
  /// Where the mask is set, `to` becomes `value`. Lanes have 32 bits.
  void replace(const Vector& to, const Vector& value);
  /// For the register that holds this part of the pass's lanes, from the bits of all of these.
  void set_mask(const Xbyak::RegExp& bits, int lane_bytes, int part);
  void read_mask(const Xbyak::Reg32& bits, int lane_bytes);
  /// `yes` where the mask is set, otherwise `no`.
  void blend(const Vector& to, const Vector& no, const Vector& yes, int lane_bytes);
  static const Xbyak::Opmask& scratch_mask();

  // Integers of 64 bits.
  void multiply_doublewords(const Vector& to, const Vector& a, const Xbyak::Operand& b);
  void shift_right_signed(const Vector& to, const Vector& a, std::uint8_t amount);
  void shift_right_signed(const Vector& to, const Vector& a, const Vector& amounts);
  void absolute_doublewords(const Vector& to, const Vector& a);
  /// The smaller or the larger ones.
  void extreme_doublewords(const Vector& to, const Vector& a, const Xbyak::Operand& b, bool smaller,
                           bool sign);
  /// The low halves of the lanes of `low`, then those of `high`. Changes `spare`.
  void narrow(const Vector& to, const Vector& spare, const Vector& low, const Vector& high);

  // Conversions of u32, by half a register of lanes for f64.
  void unsigned_to_float(const Vector& to, const Xbyak::Operand& a);
  void unsigned_to_double(const Vector& to, const Vector& a);
  /// Towards zero, to the next number if it is out of range, NaN to 0. For AVX2 alone.
  void float_to_unsigned(const Vector& to, const Vector& a);

  /// `to` times 2^n, n a small integer, in f64.
  void scale(const Vector& to, const Vector& n);

  /// On AVX2, sets the register that points at numbers in memory, for the operations above.
  void load_numbers();

 protected:
  /// One of the struct Numbers.
  Xbyak::Address number(std::size_t offset) const;
  const Xbyak::Reg64 numbers = r11;

 private:
  void combine_two(const Vector& to, const Vector& b, const Xbyak::Operand& c, int table);
  bool compare_integers(NativeType type, const Vector& a, const Xbyak::Operand& b,
                        std::uint8_t relation);

  Vectors vectors_;
};

}  // namespace rung::vgpu::native
