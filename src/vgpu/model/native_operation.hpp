#pragma once
// The operations that the translator (native/translate.hpp) turns into the CPU's own instructions.

#include <cstdint>

namespace rung::vgpu {

/// Each has the meaning of the PTX instruction of its name. Other instructions are `none`: their
/// handlers run them.
enum class NativeOp : std::uint8_t {
  none,
  move,
  add,
  sub,
  mul,  // .lo of integers
  mul_high,
  mul_wide,
  mad,  // fma, and mad.lo of integers
  mad_wide,
  neg,
  abs,
  min,
  max,
  and_,
  or_,
  xor_,
  not_,
  shl,
  shr,
  lop3,
  add_offset,  // cvta: Instr::imm is added
  resize,      // cvt between integers
  to_float,    // cvt.rn from an integer or f64
  to_double,   // cvt.f64 from f32 or a 32-bit integer
  truncate,    // cvt.rzi from f32 to a 32-bit integer
  round,       // cvt.rni, .rzi, .rmi or .rpi from f32 to f32
  rcp,
  sqrt,
  rsqrt,
  div,
  exp2,  // ex2.approx
  selp,
  setp,
  load_parameter,  // ld.param at a constant offset, which is Instr::imm's MemoryOp's
  predicate_move,
  predicate_not,
  predicate_and,
  predicate_or,
  predicate_xor,
};

/// What lanes are taken for.
enum class NativeType : std::uint8_t { u32, s32, u64, s64, f32, f64 };

struct Native {
  NativeOp op = NativeOp::none;
  NativeType type = NativeType::u32;  // of the sources
  NativeType result = NativeType::u32;
  // setp: the predicate of VCMPPS or of VPCMPD; round: the mode of VRNDSCALEPS (Intel SDM, volume 2)
  std::uint8_t relation = 0;

  explicit operator bool() const { return op != NativeOp::none; }
};

inline int bytes_of(NativeType type) {
  return type == NativeType::u64 || type == NativeType::s64 || type == NativeType::f64 ? 8 : 4;
}
inline bool is_float(NativeType type) { return type == NativeType::f32 || type == NativeType::f64; }
inline bool is_signed(NativeType type) {
  return type == NativeType::s32 || type == NativeType::s64;
}

}  // namespace rung::vgpu
