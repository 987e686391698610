// Translation of cvt between integers, f32 and f64 (PTX ISA, 9.7.9).

#include "vgpu/native/emission.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Operand;
using Nan = Emitter::Nan;

}  // namespace

void Emission::resize() {
  const NativeType result = instr_.native.result;
  if (bytes_of(type) == bytes_of(result)) {
    each_part([&](int part) { copy(part); });
  } else if (bytes_of(result) == 8) {
    for (int part = 0; part < parts_of(result); ++part) {
      write(part, widened(1, part, is_signed(type)));
    }
  } else {
    for (int part = 0; part < parts_of(result); ++part) {
      const Vector low = c.read(source(1, 2 * part)), high = c.read(source(1, 2 * part + 1));
      const Vector to = c.fresh(), spare = c.fresh();
      c.narrow(to, spare, low, high);
      write(part, to);
    }
  }
}

void Emission::to_float() {
  if (type == NativeType::f64) {
    for (int part = 0; part < parts_of(NativeType::f32); ++part) {
      const Vector low = c.read(source(1, 2 * part)), high = c.read(source(1, 2 * part + 1));
      const Vector to = c.fresh(), upper = c.fresh();
      c.vcvtpd2ps(c.lower_half(to), low);
      c.vcvtpd2ps(c.lower_half(upper), high);
      c.insert_upper_half(to, c.lower_half(upper));
      write(part, to);
    }
    return;
  }
  each_part([&](int part) {
    const Operand& a = any(1, part);
    const Vector to = c.fresh();
    is_signed(type) ? c.vcvtdq2ps(to, a) : c.unsigned_to_float(to, a);
    write(part, to);
  });
}

void Emission::to_double() {
  for (int part = 0; part < parts_of(NativeType::f64); ++part) {
    const Vector words = half(1, part);
    const Vector to = c.fresh();
    if (type == NativeType::f32) {
      c.vcvtps2pd(to, words);
    } else {
      is_signed(type) ? c.vcvtdq2pd(to, words) : c.unsigned_to_double(to, words);
    }
    write(part, to);
  }
}

void Emission::truncate() {
  constexpr std::uint8_t less = 0x11, not_less = 0x15, unordered = 0x03;
  const bool sign = is_signed(instr_.native.result);
  if (!sign && !c.has_avx512()) {
    return each_part([&](int part) {
      const Vector a = read(1, part), to = c.fresh();
      c.float_to_unsigned(to, a);
      write(part, to);
    });
  }
  const Vector none = zero();
  const Vector limit = words(sign ? 0x4F000000u : 0u);  // 2^31
  const Vector most = sign ? words(0x7FFFFFFFu) : none;
  each_part([&](int part) {
    const Vector a = read(1, part), to = c.fresh();
    sign ? c.vcvttps2dq(to, a) : c.vcvttps2udq(to, a);
    c.compare_floats(a, limit, sign ? not_less : less);
    c.replace(to, most);
    c.compare_floats(a, a, unordered);
    c.replace(to, none);
    write(part, to);
  });
}

void Emission::round() {
  each_part([&](int part) {
    const std::uint8_t mode = instr_.native.relation;
    const Vector to = c.fresh();
    c.has_avx512() ? c.vrndscaleps(to, any(1, part), mode) : c.vroundps(to, any(1, part), mode);
    write(part, to, Nan::any);
  });
}

}  // namespace rung::vgpu::native
