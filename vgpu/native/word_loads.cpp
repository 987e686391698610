#include "vgpu/native/word_loads.hpp"

namespace rung::vgpu::native {
namespace {

using Xbyak::Xmm;
using Xbyak::Ymm;
using Xbyak::Zmm;

constexpr int group_lanes = 4;  // lanes whose words fill 16 bytes
constexpr int half_lanes = warp_size / 2;

int groups_of(const Emitter& c) { return words_of(c.vectors()) / group_lanes; }

void insert_group(Emitter& c, const Vector& to, const Xbyak::Operand& words, int group) {
  const int index = to.getIdx();
  const auto place = static_cast<std::uint8_t>(group);
  if (c.has_avx512()) {
    c.vinsertf32x4(Zmm(index), Zmm(index), words, place);
  } else {
    c.vinsertf128(Ymm(index), Ymm(index), words, place);
  }
}

}  // namespace

std::int32_t offset_of_lane(const LoadPattern& pattern, int lane) {
  switch (pattern.kind) {
    case LoadPattern::Kind::halves: return pattern.offset_of_half(lane / half_lanes);
    case LoadPattern::Kind::strided: return lane * pattern.stride;
    case LoadPattern::Kind::repeated: return lane % half_lanes * pattern.stride;
    default: return 0;
  }
}

// On AMD's Zen 4, this is several times as fast as a gather instruction: a gather of 16 words takes
// about 80 micro-operations (https://uops.info, VGATHERDPS).
void load_strided(Emitter& c, const Vector& to, const Xbyak::RegExp& from, std::int32_t stride) {
  for (int group = 0; group < groups_of(c); ++group) {
    const Xmm words(group == 0 ? to.getIdx() : c.temporary(group - 1).getIdx());
    const std::int32_t first = group * group_lanes * stride;
    c.vmovss(words, c.dword[from + first]);
    for (int lane = 1; lane < group_lanes; ++lane) {
      c.vinsertps(words, words, c.dword[from + (first + lane * stride)],
                  static_cast<std::uint8_t>(lane << 4));
    }
  }
  for (int group = 1; group < groups_of(c); ++group) {
    insert_group(c, to, Xmm(c.temporary(group - 1).getIdx()), group);
  }
}

// Loads whole groups of four words, then transposes.
void load_transposed(Emitter& c, std::span<const Vector, 4> to, const Xbyak::RegExp& from,
                     std::int32_t stride) {
  for (int lane = 0; lane < group_lanes; ++lane) {
    const Vector words = to[static_cast<std::size_t>(lane)];
    c.vmovups(Xmm(words.getIdx()), c.xword[from + lane * stride]);
    for (int group = 1; group < groups_of(c); ++group) {
      insert_group(c, words, c.xword[from + (group * group_lanes + lane) * stride], group);
    }
  }
  const Vector low01 = c.temporary(0), low23 = c.temporary(1), high01 = c.temporary(2),
               high23 = to[3];
  c.vunpcklps(low01, to[0], to[1]);
  c.vunpcklps(low23, to[2], to[3]);
  c.vunpckhps(high01, to[0], to[1]);
  c.vunpckhps(high23, to[2], to[3]);
  c.vunpcklpd(to[0], low01, low23);
  c.vunpckhpd(to[1], low01, low23);
  c.vunpcklpd(to[2], high01, high23);
  c.vunpckhpd(to[3], high01, high23);
}

}  // namespace rung::vgpu::native
