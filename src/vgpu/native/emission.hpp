#pragma once
// One instruction on its way to the CPU's. A row of 32-bit lanes is two vectors, one of 64-bit lanes
// is four.

#include "vgpu/engine/compare/compare.hpp"
#include "vgpu/native/emit.hpp"

namespace rung::vgpu::native {

inline int parts_of(NativeType type) {
  return bytes_of(type) * warp_size / static_cast<int>(line_bytes);
}
inline Lanes lanes_of(NativeType type, int part) {
  return {static_cast<std::uint8_t>(bytes_of(type)), static_cast<std::uint8_t>(part)};
}
/// NaN of f64 stay as the CPU makes them.
inline Emitter::Nan nan_of(NativeType type) {
  return type == NativeType::f32 ? Emitter::Nan::any : Emitter::Nan::canonical;
}

/// Its names are short, because every line of the operations uses them.
class Emission {
 public:
  Emission(Emitter& to, const Constants& constants, const Instr& instr)
      : c(to), constants_(constants), instr_(instr), type(instr.native.type) {}

  void run();

 private:
  std::uint32_t row(int operand) const { return instr_.row[static_cast<std::size_t>(operand)]; }
  Line line(int operand, int part) const { return line_of(row(operand), part); }
  Xbyak::Zmm read(int operand, int part) { return c.read(line(operand, part), nan_of(type)); }
  const Xbyak::Operand& any(int operand, int part) {
    return c.read_any(line(operand, part), nan_of(type));
  }
  Xbyak::Zmm take(int operand, int part) { return c.take(line(operand, part), nan_of(type)); }
  void write(int part, const Xbyak::Zmm& value, Emitter::Nan nan = Emitter::Nan::canonical) {
    c.write(line(0, part), value, lanes_of(instr_.native.result, part), nan);
  }
  template <class F>
  void each_part(const F& f) {
    for (int part = 0; part < parts_of(type); ++part) f(part);
  }
  Xbyak::Zmm zero();
  /// The number in every 32-bit lane of a register.
  Xbyak::Zmm words(std::uint32_t bits);
  /// The number in every 64-bit lane of a register.
  Xbyak::Zmm doubles(double number);
  /// Eight lanes of a 32-bit row, from lane 8 * eighth on, in the lower half of a register.
  Xbyak::Ymm eighth(int operand, int part);
  /// The same, extended to 64 bits.
  Xbyak::Zmm widened(int operand, int part, bool sign);

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
  void round();
  void quotient();
  void reciprocal_root();
  void power_of_two();
  void select();
  void load_parameter();
  void compare();
  void combine(const Combination& combination);
  void predicate();

  Emitter& c;  // where the code goes
  const Constants& constants_;
  const Instr& instr_;
  const NativeType type;  // of the sources
};

}  // namespace rung::vgpu::native
