// Translation of bitwise logic, shifts and addresses (PTX ISA, 9.7.8).

#include <algorithm>

#include "vgpu/native/emission.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Operand;

}  // namespace

void Emission::bitwise() {
  each_part([&](int part) {
    const Vector a = c.read(source(1, part));
    const Vector to = c.fresh();
    switch (instr_.native.op) {
      case NativeOp::and_: c.bitwise_and(to, a, c.read_any(source(2, part))); break;
      case NativeOp::or_: c.bitwise_or(to, a, c.read_any(source(2, part))); break;
      case NativeOp::xor_: c.bitwise_xor(to, a, c.read_any(source(2, part))); break;
      default: c.bitwise_not(to, a);
    }
    write(part, to);
  });
}

void Emission::shift() {
  const bool left = instr_.native.op == NativeOp::shl;
  const bool sign = is_signed(type) && !left;
  const bool wide = bytes_of(type) == 8;
  const std::uint64_t* constant = constants_.find(row(2));
  each_part([&](int part) {
    const Vector a = c.read(source(1, part));
    if (constant != nullptr) {
      const Vector to = c.fresh();
      const auto amount = static_cast<std::uint8_t>(
          std::min<std::uint64_t>(static_cast<std::uint32_t>(*constant), 255));
      if (left) {
        wide ? c.vpsllq(to, a, amount) : c.vpslld(to, a, amount);
      } else if (sign) {
        wide ? c.shift_right_signed(to, a, amount) : c.vpsrad(to, a, amount);
      } else {
        wide ? c.vpsrlq(to, a, amount) : c.vpsrld(to, a, amount);
      }
      return write(part, to);
    }
    const Vector amount = wide ? widened(2, part, false) : c.read(line(2, part, NativeType::u32));
    const Vector to = c.fresh();
    if (left) {
      wide ? c.vpsllvq(to, a, amount) : c.vpsllvd(to, a, amount);
    } else if (sign) {
      wide ? c.shift_right_signed(to, a, amount) : c.vpsravd(to, a, amount);
    } else {
      wide ? c.vpsrlvq(to, a, amount) : c.vpsrlvd(to, a, amount);
    }
    write(part, to);
  });
}

void Emission::lop3() {
  each_part([&](int part) {
    const Vector b = read(2, part);
    const Operand& third = any(3, part);
    const Vector to = take(1, part);
    c.combine_bits(to, b, third, static_cast<std::uint8_t>(instr_.imm));
    write(part, to);
  });
}

void Emission::add_offset() {
  each_part([&](int part) {
    if (instr_.imm == 0) return copy(part);
    const Vector a = read(1, part), to = c.fresh();
    c.mov(c.rax, instr_.imm);
    c.broadcast(to, c.rax);
    c.vpaddq(to, to, a);
    write(part, to);
  });
}

}  // namespace rung::vgpu::native
