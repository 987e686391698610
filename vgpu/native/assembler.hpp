#pragma once
// Vector operations for which AVX-512 and AVX2 have different instructions. Instructions that both
// have are emitted for the size of the given registers.

#include <xbyak/xbyak.h>

#include <cstddef>
#include <cstdint>

#include "vgpu/native/vectors.hpp"

namespace rung::vgpu::native {

/// A vector register of either size.
using Vector = Xbyak::Xmm;

class Assembler : public Xbyak::CodeGenerator {
 public:
  explicit Assembler(const Vectors& vectors);

  const Vectors& vectors() const { return vectors_; }
  bool has_avx512() const { return vectors_ == avx512; }

  Vector vector(int index) const;
  /// Three registers that are never assigned to lines. On AVX2, the operations below may change the
  /// last two.
  Vector temporary(int index) const { return vector(vectors_.registers + index); }
  /// The lower half of a register.
  Vector lower_half(const Vector& whole) const;
  void extract_upper_half(const Vector& half, const Vector& whole);
  void insert_upper_half(const Vector& whole, const Vector& half);
  Xbyak::Address vector_at(const Xbyak::RegExp& address) const;

  void bitwise_and(const Vector& to, const Vector& a, const Xbyak::Operand& b);
  void bitwise_or(const Vector& to, const Vector& a, const Xbyak::Operand& b);
  void bitwise_xor(const Vector& to, const Vector& a, const Xbyak::Operand& b);
  void bitwise_not(const Vector& to, const Vector& a);
  /// LOP3: `to` is both the first operand and the result.
  void combine_bits(const Vector& to, const Vector& b, const Xbyak::Operand& c, std::uint8_t table);

  /// Copies a number to all lanes.
  void broadcast(const Vector& to, const Xbyak::Reg32& number);
  void broadcast(const Vector& to, const Xbyak::Reg64& number);
  void broadcast_double(const Vector& to, const Xbyak::RegExp& from);

  // Masks. Each of these functions sets or uses the single mask: an opmask or, on AVX2, the sign
  // bits of lanes in the first temporary.
  /// Compares floats. `relation`: predicate of VCMPPS.
  void compare_floats(const Vector& a, const Xbyak::Operand& b, std::uint8_t relation);
  /// Compares lanes. `relation`: predicate of VCMPPS or VPCMPD. Returns false if the mask is set
  /// where it is false.
  bool compare(NativeType type, const Vector& a, const Xbyak::Operand& b, std::uint8_t relation);
  /// Replaces `to` by `value` where the mask is set. Lanes have 32 bits.
  void replace(const Vector& to, const Vector& value);
  /// Sets the mask for a register that holds part `part` of the pass's lanes, from the bits of all
  /// lanes.
  void set_mask(const Xbyak::RegExp& bits, int lane_bytes, int part);
  void read_mask(const Xbyak::Reg32& bits, int lane_bytes);
  /// to = `yes` where the mask is set, `no` elsewhere.
  void blend(const Vector& to, const Vector& no, const Vector& yes, int lane_bytes);
  static const Xbyak::Opmask& scratch_mask();

  // Operations on 64-bit integers.
  void multiply_doublewords(const Vector& to, const Vector& a, const Xbyak::Operand& b);
  void shift_right_signed(const Vector& to, const Vector& a, std::uint8_t amount);
  void shift_right_signed(const Vector& to, const Vector& a, const Vector& amounts);
  void absolute_doublewords(const Vector& to, const Vector& a);
  /// The smaller or the larger one of each pair of lanes.
  void extreme_doublewords(const Vector& to, const Vector& a, const Xbyak::Operand& b, bool smaller,
                           bool sign);
  /// to = the low halves of the lanes of `low`, then those of `high`. Changes `spare`.
  void narrow(const Vector& to, const Vector& spare, const Vector& low, const Vector& high);

  // Conversions of u32. To f64, for half a register of lanes.
  void unsigned_to_float(const Vector& to, const Xbyak::Operand& a);
  void unsigned_to_double(const Vector& to, const Vector& a);
  /// Rounds toward zero and clamps to the range; NaN becomes 0. Only for AVX2.
  void float_to_unsigned(const Vector& to, const Vector& a);

  /// Multiplies `to` by 2^n in f64, for small integers n.
  void scale(const Vector& to, const Vector& n);

  /// On AVX2, loads the register that points at numbers in memory, which the operations above use.
  void load_numbers();

 protected:
  /// The address of a member of the struct Numbers.
  Xbyak::Address number(std::size_t offset) const;
  const Xbyak::Reg64 numbers = r11;

 private:
  void combine_two(const Vector& to, const Vector& b, const Xbyak::Operand& c, int table);
  bool compare_integers(NativeType type, const Vector& a, const Xbyak::Operand& b,
                        std::uint8_t relation);

  Vectors vectors_;
};

}  // namespace rung::vgpu::native
