// cvt between integers, f32 and f64 (PTX ISA, 9.7.9).

#include "vgpu/native/emission.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Operand;
using Xbyak::Opmask;
using Xbyak::Ymm;
using Xbyak::Zmm;
using Nan = Emitter::Nan;

}  // namespace

void Emission::resize() {
  const NativeType result = instr_.native.result;
  if (bytes_of(type) == bytes_of(result)) {
    each_part([&](int part) { c.copy(line(0, part), line(1, part), lanes_of(type, part)); });
  } else if (bytes_of(result) == 8) {
    for (int part = 0; part < parts_of(result); ++part) {
      write(part, widened(1, part, is_signed(type)));
    }
  } else {
    for (int part = 0; part < parts_of(result); ++part) {
      const Zmm low = c.read(line(1, 2 * part)), high = c.read(line(1, 2 * part + 1));
      const Zmm to = c.fresh(), upper = c.fresh();
      c.vpmovqd(Ymm(to.getIdx()), low);
      c.vpmovqd(Ymm(upper.getIdx()), high);
      c.vinserti64x4(to, to, Ymm(upper.getIdx()), 1);
      write(part, to);
    }
  }
}

void Emission::to_float() {
  if (type == NativeType::f64) {
    for (int part = 0; part < 2; ++part) {
      const Zmm low = c.read(line(1, 2 * part)), high = c.read(line(1, 2 * part + 1));
      const Zmm to = c.fresh(), upper = c.fresh();
      c.vcvtpd2ps(Ymm(to.getIdx()), low);
      c.vcvtpd2ps(Ymm(upper.getIdx()), high);
      c.vinserti64x4(to, to, Ymm(upper.getIdx()), 1);
      write(part, to);
    }
    return;
  }
  each_part([&](int part) {
    const Operand& a = any(1, part);
    const Zmm to = c.fresh();
    is_signed(type) ? c.vcvtdq2ps(to, a) : c.vcvtudq2ps(to, a);
    write(part, to);
  });
}

void Emission::to_double() {
  for (int part = 0; part < 4; ++part) {
    const Ymm words = eighth(1, part);
    const Zmm to = c.fresh();
    if (type == NativeType::f32) {
      c.vcvtps2pd(to, words);
    } else {
      is_signed(type) ? c.vcvtdq2pd(to, words) : c.vcvtudq2pd(to, words);
    }
    write(part, to);
  }
}

void Emission::truncate() {
  constexpr std::uint8_t less = 0x11, not_less = 0x15, unordered = 0x03;
  const bool sign = is_signed(instr_.native.result);
  const Zmm none = zero();
  const Zmm limit = words(sign ? 0x4F000000u : 0u);  // 2^31
  const Zmm most = sign ? words(0x7FFFFFFFu) : none;
  each_part([&](int part) {
    const Zmm a = read(1, part), to = c.fresh();
    const Opmask k = Emitter::scratch_mask();
    sign ? c.vcvttps2dq(to, a) : c.vcvttps2udq(to, a);
    c.vcmpps(k, a, limit, sign ? not_less : less);
    c.vmovaps(to | k, most);
    c.vcmpps(k, a, a, unordered);
    c.vmovaps(to | k, none);
    write(part, to);
  });
}

void Emission::round() {
  each_part([&](int part) {
    const Zmm to = c.fresh();
    c.vrndscaleps(to, any(1, part), instr_.native.relation);
    write(part, to, Nan::any);
  });
}

}  // namespace rung::vgpu::native
