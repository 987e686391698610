#pragma once
// The storage of __half and __nv_bfloat16 where the compiler lacks such types: host code by GCC. A float
// has more than twice their bits, so rounding a float result gives the correctly rounded result.

#include "rung_emu/small_float_bits.h"

namespace rung_emu {

template <int FractionBits>
class HostSmallFloat {
 public:
  HostSmallFloat() = default;
  explicit HostSmallFloat(double value) {
    const unsigned int sign =
        static_cast<unsigned int>(__builtin_bit_cast(unsigned long long, value) >> 48) & 0x8000u;
    const double magnitude = __builtin_fabs(value);
    unsigned int bits = infinity;
    if (magnitude <= 1.7976931348623157e308) bits = encode_small(magnitude, FractionBits, bias);
    if (bits > infinity) bits = infinity;
    bits_ = static_cast<unsigned short>(value != value ? 0x7FFFu : sign | bits);
  }
  operator float() const {
    const unsigned int magnitude = bits_ & 0x7FFFu;
    const float value = magnitude < infinity
                            ? static_cast<float>(decode_small(magnitude, FractionBits, bias))
                            : (magnitude == infinity ? __builtin_inff() : __builtin_nanf(""));
    return (bits_ & 0x8000u) != 0 ? -value : value;
  }

#define RUNG_EMU_OPERATOR(RESULT, OP)                              \
  friend RESULT operator OP(HostSmallFloat a, HostSmallFloat b) {  \
    return RESULT(static_cast<float>(a) OP static_cast<float>(b)); \
  }
  RUNG_EMU_OPERATOR(HostSmallFloat, +)
  RUNG_EMU_OPERATOR(HostSmallFloat, -)
  RUNG_EMU_OPERATOR(HostSmallFloat, *)
  RUNG_EMU_OPERATOR(HostSmallFloat, /)
  RUNG_EMU_OPERATOR(bool, ==)
  RUNG_EMU_OPERATOR(bool, !=)
  RUNG_EMU_OPERATOR(bool, <)
  RUNG_EMU_OPERATOR(bool, <=)
  RUNG_EMU_OPERATOR(bool, >)
  RUNG_EMU_OPERATOR(bool, >=)
#undef RUNG_EMU_OPERATOR
  HostSmallFloat operator-() const { return HostSmallFloat(-static_cast<float>(*this)); }

 private:
  static constexpr int bias = (1 << (14 - FractionBits)) - 1;
  static constexpr unsigned int infinity = ((1u << (15 - FractionBits)) - 1) << FractionBits;
  unsigned short bits_;
};

typedef HostSmallFloat<10> HostHalf;
typedef HostSmallFloat<7> HostBfloat16;

}  // namespace rung_emu
