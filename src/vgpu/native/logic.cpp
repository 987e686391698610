// Bitwise logic, shifts and addresses (PTX ISA, 9.7.8).

#include <algorithm>

#include "vgpu/native/emission.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Operand;
using Xbyak::Zmm;

}  // namespace

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

}  // namespace rung::vgpu::native
