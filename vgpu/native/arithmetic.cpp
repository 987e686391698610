// Translation of arithmetic (PTX ISA, 9.7.1 and 9.7.3).

#include <array>
#include <cstddef>

#include "vgpu/engine/numbers/power_of_two.hpp"
#include "vgpu/native/emission.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Operand;
using Nan = Emitter::Nan;

}  // namespace

void Emission::sum() {
  const bool adds = instr_.native.op == NativeOp::add;
  each_part([&](int part) {
    const Vector a = read(1, part);
    const Operand& b = any(2, part);
    const Vector to = c.fresh();
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
    const Vector a = read(1, part);
    const Operand& b = any(2, part);
    const Vector to = c.fresh();
    switch (type) {
      case NativeType::f32: c.vmulps(to, a, b); break;
      case NativeType::f64: c.vmulpd(to, a, b); break;
      case NativeType::u32:
      case NativeType::s32: c.vpmulld(to, a, b); break;
      default: c.multiply_doublewords(to, a, b);
    }
    write(part, to, nan_of(type));
  });
}

void Emission::high_product() {
  constexpr std::uint8_t word = 32;
  constexpr int odd_lanes = 0xAAAA;  // low bits, one for each lane
  each_part([&](int part) {
    const Vector a = read(1, part), b = read(2, part), even = c.fresh(), odd = c.fresh(),
                 shifted = c.fresh();
    c.vpsrlq(odd, a, word);
    c.vpsrlq(shifted, b, word);
    is_signed(type) ? c.vpmuldq(odd, odd, shifted) : c.vpmuludq(odd, odd, shifted);
    is_signed(type) ? c.vpmuldq(even, a, b) : c.vpmuludq(even, a, b);
    c.vpsrlq(even, even, word);
    if (c.has_avx512()) {
      c.mov(c.eax, odd_lanes);
      c.kmovw(Emitter::scratch_mask(), c.eax);
      c.vmovdqa32(even | Emitter::scratch_mask(), odd);
    } else {
      c.vpblendd(even, even, odd, odd_lanes & 0xFF);
    }
    write(part, even);
  });
}

void Emission::wide_product() {
  const bool adds = instr_.native.op == NativeOp::mad_wide;
  const bool sign = is_signed(type);
  for (int part = 0; part < parts_of(instr_.native.result); ++part) {
    const Vector a = widened(1, part, sign), b = widened(2, part, sign);
    sign ? c.vpmuldq(a, a, b) : c.vpmuludq(a, a, b);
    if (adds) c.vpaddq(a, a, c.read_any(line(3, part, instr_.native.result)));
    write(part, a);
  }
}

void Emission::multiply_add() {
  each_part([&](int part) {
    const Vector a = read(1, part);
    const Operand& b = any(2, part);
    if (is_float(type)) {
      const Vector to = take(3, part);
      type == NativeType::f32 ? c.vfmadd231ps(to, a, b) : c.vfmadd231pd(to, a, b);
      return write(part, to, nan_of(type));
    }
    const Vector to = c.fresh();
    if (bytes_of(type) == 4) {
      c.vpmulld(to, a, b);
      c.vpaddd(to, to, any(3, part));
    } else {
      c.multiply_doublewords(to, a, b);
      c.vpaddq(to, to, any(3, part));
    }
    write(part, to);
  });
}

void Emission::sign() {
  const bool negates = instr_.native.op == NativeOp::neg;
  const Vector constant = is_float(type) ? words(negates ? 0x80000000u : 0x7FFFFFFFu) : zero();
  each_part([&](int part) {
    const Vector a = read(1, part);
    const Vector to = c.fresh();
    if (is_float(type)) {
      negates ? c.bitwise_xor(to, a, constant) : c.bitwise_and(to, a, constant);
    } else if (bytes_of(type) == 4) {
      negates ? c.vpsubd(to, constant, a) : c.vpabsd(to, a);
    } else {
      negates ? c.vpsubq(to, constant, a) : c.absolute_doublewords(to, a);
    }
    write(part, to, nan_of(type));
  });
}

void Emission::extreme() {
  if (is_float(type)) return float_extreme();
  const bool smaller = instr_.native.op == NativeOp::min;
  each_part([&](int part) {
    const Vector a = read(1, part);
    const Operand& b = any(2, part);
    const Vector to = c.fresh();
    switch (type) {
      case NativeType::u32: smaller ? c.vpminud(to, a, b) : c.vpmaxud(to, a, b); break;
      case NativeType::s32: smaller ? c.vpminsd(to, a, b) : c.vpmaxsd(to, a, b); break;
      default: c.extreme_doublewords(to, a, b, smaller, is_signed(type));
    }
    write(part, to);
  });
}

void Emission::float_extreme() {
  const bool smaller = instr_.native.op == NativeOp::min;
  constexpr std::uint8_t equal = 0x00, unordered = 0x03;
  each_part([&](int part) {
    const Vector a = read(1, part), b = read(2, part), to = c.fresh(), both = c.fresh();
    smaller ? c.vminps(to, a, b) : c.vmaxps(to, a, b);
    smaller ? c.bitwise_or(both, a, b) : c.bitwise_and(both, a, b);
    c.compare_floats(a, b, equal);
    c.replace(to, both);
    c.compare_floats(b, b, unordered);
    c.replace(to, a);
    write(part, to, Nan::any);
  });
}

void Emission::quotient() {
  const Vector one = instr_.native.op == NativeOp::rcp ? words(0x3F800000u) : Vector();
  each_part([&](int part) {
    const Vector a = read(1, part);
    if (instr_.native.op == NativeOp::div) {
      const Operand& b = any(2, part);
      const Vector to = c.fresh();
      c.vdivps(to, a, b);
      return write(part, to, Nan::any);
    }
    const Vector to = c.fresh();
    if (instr_.native.op == NativeOp::rcp) {
      c.vdivps(to, one, a);
    } else {
      c.vsqrtps(to, a);
    }
    write(part, to, Nan::any);
  });
}

// rsqrt: 1 / sqrt(x) in f64, rounded to f32. With AVX-512, two Newton steps double the 14 bits of
// the CPU's approximation twice, in a fifth of the time of a square root and a division. For all
// 2^24 combinations of significand and parity of the exponent, the result rounds to the same f32 as
// with these.
void Emission::reciprocal_root() {
  if (!c.has_avx512()) return exact_reciprocal_root();
  // VFPCLASSPD: the approximation is exact for these
  constexpr std::uint8_t zero_or_infinite = 0x0E;
  constexpr int steps = 2;
  const Vector one_half = doubles(0.5);
  const Xbyak::Opmask others = Emitter::scratch_mask();
  for (int part = 0; part < parts_of(type); ++part) {
    Vector roots[2];
    for (int i = 0; i < 2; ++i) {
      const Vector x = c.fresh(), correction = c.fresh(), root = roots[i] = c.fresh();
      c.vcvtps2pd(x, half(1, 2 * part + i));
      c.vrsqrt14pd(root, x);
      c.vfpclasspd(others, x, zero_or_infinite);
      c.knotb(others, others);
      c.vmulpd(x, x, one_half);
      for (int step = 0; step < steps; ++step) {
        c.vmulpd(correction, root, root);
        c.vfnmadd213pd(correction, x, one_half);
        c.vfmadd213pd(root | others, correction, root);
      }
      c.vcvtpd2ps(c.lower_half(root), root);
    }
    c.insert_upper_half(roots[0], c.lower_half(roots[1]));
    write(part, roots[0], Nan::any);
  }
}

void Emission::exact_reciprocal_root() {
  const Vector one = doubles(1);
  for (int part = 0; part < parts_of(type); ++part) {
    Vector roots[2];
    for (int i = 0; i < 2; ++i) {
      const Vector root = roots[i] = c.fresh();
      c.vcvtps2pd(root, half(1, 2 * part + i));
      c.vsqrtpd(root, root);
      c.vdivpd(root, one, root);
      c.vcvtpd2ps(c.lower_half(root), root);
    }
    c.insert_upper_half(roots[0], c.lower_half(roots[1]));
    write(part, roots[0], Nan::any);
  }
}

// Emits the steps of PowerOfTwo.
void Emission::power_of_two() {
  constexpr std::uint8_t nearest = 8;
  constexpr auto& coefficients = PowerOfTwo::coefficients;
  const Vector low = doubles(PowerOfTwo::low), high = doubles(PowerOfTwo::high);
  const auto place = [&](std::size_t k) { return c.r10 + k * sizeof(double); };
  c.mov(c.r10, reinterpret_cast<std::uint64_t>(coefficients.data()));
  for (int part = 0; part < parts_of(type); ++part) {
    Vector powers[2];
    for (int i = 0; i < 2; ++i) {
      const Vector x = c.fresh(), whole = c.fresh(), sum = powers[i] = c.fresh();
      c.vcvtps2pd(x, half(1, 2 * part + i));
      c.vmaxpd(x, low, x);  // returns the second operand if one is NaN
      c.vminpd(x, high, x);
      c.has_avx512() ? c.vrndscalepd(whole, x, nearest) : c.vroundpd(whole, x, nearest);
      c.vsubpd(x, x, whole);
      c.broadcast_double(sum, place(coefficients.size() - 1));
      for (std::size_t k = coefficients.size() - 1; k-- > 0;) {
        if (c.has_avx512()) {
          c.vfmadd213pd(sum, x, c.ptr_b[place(k)]);
        } else {
          c.broadcast_double(c.temporary(0), place(k));
          c.vfmadd213pd(sum, x, c.temporary(0));
        }
      }
      c.scale(sum, whole);
      c.vcvtpd2ps(c.lower_half(sum), sum);
    }
    c.insert_upper_half(powers[0], c.lower_half(powers[1]));
    write(part, powers[0], Nan::any);
  }
}

}  // namespace rung::vgpu::native
