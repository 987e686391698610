#pragma once
// The translation of one instruction, for the lanes of a pass.

#include "vgpu/engine/compare/compare.hpp"
#include "vgpu/native/emit.hpp"

namespace rung::vgpu::native {

inline Lanes lanes_of(NativeType type, int part) {
  return {static_cast<std::uint8_t>(bytes_of(type)), static_cast<std::uint8_t>(part)};
}
/// How results that are NaN are handled. f64 keeps the CPU's NaN.
inline Emitter::Nan nan_of(NativeType type) {
  return type == NativeType::f32 ? Emitter::Nan::any : Emitter::Nan::canonical;
}

/// Names are short, because every line of the operations uses them.
class Emission {
 public:
  Emission(Emitter& to, const Constants& constants, const Instr& instr)
      : c(to), constants_(constants), instr_(instr), type(instr.native.type) {}

  void run();

 private:
  std::uint32_t row(int operand) const { return instr_.row[static_cast<std::size_t>(operand)]; }
  int parts_of(NativeType lanes) const { return c.pass().parts_of(lanes); }
  Line line(int operand, int part, NativeType lanes) const {
    return c.pass().line_of(row(operand), lanes, part);
  }
  Line source(int operand, int part) const { return line(operand, part, type); }
  Vector read(int operand, int part) { return c.read(source(operand, part), nan_of(type)); }
  const Xbyak::Operand& any(int operand, int part) {
    return c.read_any(source(operand, part), nan_of(type));
  }
  Vector take(int operand, int part) { return c.take(source(operand, part), nan_of(type)); }
  void write(int part, const Vector& value, Emitter::Nan nan = Emitter::Nan::canonical) {
    const NativeType result = instr_.native.result;
    c.write(line(0, part, result), value, lanes_of(result, part), nan);
  }
  /// Copies the source to the result.
  void copy(int part) {
    c.copy(line(0, part, instr_.native.result), source(1, part), lanes_of(type, part));
  }
  template <class F>
  void each_part(const F& f) {
    for (int part = 0; part < parts_of(type); ++part) f(part);
  }
  Vector zero();
  /// A register with this number in every 32-bit lane.
  Vector words(std::uint32_t bits);
  /// A register with this number in every 64-bit lane.
  Vector doubles(double number);
  /// 32-bit lanes of a row, as many as a register has 64-bit lanes, in the lower half of a
  /// register.
  Vector half(int operand, int part);
  /// The lanes of half(), extended to 64 bits.
  Vector widened(int operand, int part, bool sign);

#define RUNG_NATIVE_FUNCTION(function) void function();
#include "vgpu/model/native_operations.def"
  void float_extreme();
  void exact_reciprocal_root();
  void combine(const Combination& combination);

  Emitter& c;  // receives the code
  const Constants& constants_;
  const Instr& instr_;
  const NativeType type;  // of the sources
};

}  // namespace rung::vgpu::native
