#include "device/cpu/group_dots.hpp"

#include <cstring>
#include <utility>

#include "device/cpu/dot_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/group_dots.cpp"
#include "device/cpu/simd.hpp"
// Include after simd.hpp, which must come first in a file that is compiled once per target.
#include "device/cpu/lane_sums-inl.hpp"
#include "device/cpu/load-inl.hpp"

// AVX2 and AVX-512 for x86, and 128-bit vectors for Arm; other targets have no such instructions.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || \
    (HWY_ARCH_ARM_A64 && HWY_TARGET != HWY_SCALAR)
HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using MostRows = std::make_integer_sequence<int, NarrowDots<float>::max_rows>;

/// Common part of the instructions that multiply 32-bit groups. By default they multiply A without
/// an offset.
template <class T>
struct InGroups {
  using In = T;
  static constexpr std::int64_t group = sizeof(KGroup) / sizeof(In);
  static constexpr int a_offset = 0;

  using Groups = hn::Vec<hn::ScalableTag<KGroup>>;

  /// Loads a vector of groups; if `count` elements do not fill it, pads with zeros.
  template <bool Whole>
  static HWY_INLINE Groups load(const In* at, std::int64_t count) {
    const hn::ScalableTag<KGroup> d;
    const hn::ScalableTag<std::uint8_t> bytes;
    const auto* const from = reinterpret_cast<const std::uint8_t*>(at);
    if constexpr (Whole) return hn::BitCast(d, hn::LoadU(bytes, from));
    const auto used = static_cast<std::size_t>(count) * sizeof(In);
#if HWY_TARGET == HWY_AVX3
    return hn::BitCast(d, hn::MaskedLoad(hn::FirstN(bytes, used), bytes, from));
#else
    HWY_ALIGN std::uint8_t padded[hn::MaxLanes(bytes)] = {};
    std::memcpy(padded, from, used);
    return hn::BitCast(d, hn::Load(bytes, padded));
#endif
  }
  static HWY_INLINE Groups with_offset(Groups a) { return a; }
};

#if HWY_TARGET == HWY_AVX2
namespace dots_by_widening {

/// 16-bit elements, converted to floats.
template <class T>
struct Floats {
  using In = T;
  using Acc = float;
  static constexpr std::int64_t group = 1;
  static constexpr int a_offset = 0;

  using Groups = hn::Vec<hn::ScalableTag<float>>;

  template <bool Whole>
  static HWY_INLINE Groups load(const In* at, std::int64_t count) {
    const hn::ScalableTag<float> d;
    if constexpr (Whole) return cpu::HWY_NAMESPACE::load(d, at);
    return load_first(d, at, count);
  }
  static HWY_INLINE Groups with_offset(Groups a) { return a; }
  static HWY_INLINE Groups add(Groups sum, Groups a, Groups b) { return hn::MulAdd(a, b, sum); }
};

/// int8, converted to int16: vpmaddwd adds two products, which always fit in 32 bits.
struct PairsOfInt16 {
  using In = std::int8_t;
  using Acc = std::uint32_t;
  static constexpr std::int64_t group = 2;
  static constexpr int a_offset = 0;

  using Groups = hn::Vec<hn::ScalableTag<std::int16_t>>;
  using Sums = hn::Vec<hn::ScalableTag<Acc>>;

  template <bool Whole>
  static HWY_INLINE Groups load(const In* at, std::int64_t count) {
    const hn::ScalableTag<std::int16_t> wide;
    const hn::Rebind<In, decltype(wide)> bytes;
    if constexpr (Whole) return hn::PromoteTo(wide, hn::LoadU(bytes, at));
    In padded[hn::MaxLanes(bytes)] = {};
    std::memcpy(padded, at, static_cast<std::size_t>(count));
    return hn::PromoteTo(wide, hn::LoadU(bytes, padded));
  }
  static HWY_INLINE Groups with_offset(Groups a) { return a; }
  static HWY_INLINE Sums add(Sums sum, Groups a, Groups b) {
    return Sums{_mm256_add_epi32(sum.raw, _mm256_madd_epi16(a.raw, b.raw))};
  }
};

#include "device/cpu/group_dots-inl.hpp"

constexpr auto bf16_as_floats = make_dots<Floats<bfloat16>>(MostRows());
constexpr auto f16_as_floats = make_dots<Floats<float16>>(MostRows());
constexpr auto i8_as_int16 = make_dots<PairsOfInt16>(MostRows());
const NarrowDots<bfloat16, float>* bf16() { return &bf16_as_floats; }
const NarrowDots<float16, float>* f16() { return &f16_as_floats; }
const NarrowDots<std::int8_t, std::uint32_t>* i8() { return &i8_as_int16; }

}  // namespace dots_by_widening
#endif

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

// Dot-product extensions, each in the namespace of its register file.

#if HWY_TARGET == HWY_AVX2
#define RUNG_BYTES_TARGET HWY_TARGET_STR ",avxvnni"
#elif HWY_TARGET == HWY_AVX3
#define RUNG_BYTES_TARGET HWY_TARGET_STR ",avx512vnni"
#endif

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(RUNG_BYTES_TARGET)
namespace rung::cpu::HWY_NAMESPACE::dots_by_vnni {

/// vpdpbusd multiplies unsigned by signed bytes: sum(a b) = sum((a + 128) b) - 128 sum(b).
struct BytesOfInt8 : InGroups<std::int8_t> {
  using Acc = std::uint32_t;
  static constexpr Acc a_offset = 128;

  static HWY_INLINE Groups with_offset(Groups a) {
    return hn::Xor(a, hn::Set(hn::ScalableTag<KGroup>(), 0x80808080));
  }
  static HWY_INLINE Groups ones() { return hn::Set(hn::ScalableTag<KGroup>(), 0x01010101); }
  static HWY_INLINE Groups add(Groups sum, Groups a, Groups b) {
#if HWY_TARGET == HWY_AVX3
    return Groups{_mm512_dpbusd_epi32(sum.raw, a.raw, b.raw)};
#else
    return Groups{_mm256_dpbusd_avx_epi32(sum.raw, a.raw, b.raw)};
#endif
  }
};

#include "device/cpu/group_dots-inl.hpp"

constexpr auto bytes = make_dots<BytesOfInt8>(MostRows());
const NarrowDots<std::int8_t, std::uint32_t>* i8() { return &bytes; }

}  // namespace rung::cpu::HWY_NAMESPACE::dots_by_vnni
HWY_POP_ATTRIBUTES
#endif
#undef RUNG_BYTES_TARGET

#if HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace rung::cpu::HWY_NAMESPACE::dots_by_avx512_bf16 {

struct PairsOfBfloat16 : InGroups<bfloat16> {
  using Acc = float;
  using Sums = hn::Vec<hn::ScalableTag<float>>;

  static HWY_INLINE Sums add(Sums sum, Groups a, Groups b) {
    return Sums{_mm512_dpbf16_ps(sum.raw, (__m512bh)a.raw, (__m512bh)b.raw)};
  }
};

#include "device/cpu/group_dots-inl.hpp"

constexpr auto pairs = make_dots<PairsOfBfloat16>(MostRows());
const NarrowDots<bfloat16, float>* bf16() { return &pairs; }

}  // namespace rung::cpu::HWY_NAMESPACE::dots_by_avx512_bf16
HWY_POP_ATTRIBUTES
#endif

// Extensions of Arm's 128-bit vectors.
#if HWY_ARCH_ARM_A64 && HWY_TARGET != HWY_SCALAR
#ifdef HWY_TARGET_STR
#define RUNG_ARM_TARGET "arch=armv8.2-a" HWY_TARGET_STR
#else
#define RUNG_ARM_TARGET "arch=armv8.2-a"
#endif
HWY_PUSH_ATTRIBUTES(RUNG_ARM_TARGET "+dotprod")
namespace rung::cpu::HWY_NAMESPACE::dots_by_dotprod {

struct BytesOfInt8 : InGroups<std::int8_t> {
  using Acc = std::uint32_t;

  static HWY_INLINE Groups add(Groups sum, Groups a, Groups b) {
    return Groups(vreinterpretq_u32_s32(vdotq_s32(
        vreinterpretq_s32_u32(sum.raw), vreinterpretq_s8_u32(a.raw), vreinterpretq_s8_u32(b.raw))));
  }
};

#include "device/cpu/group_dots-inl.hpp"

constexpr auto bytes = make_dots<BytesOfInt8>(MostRows());
const NarrowDots<std::int8_t, std::uint32_t>* i8() { return &bytes; }

}  // namespace rung::cpu::HWY_NAMESPACE::dots_by_dotprod
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES(RUNG_ARM_TARGET "+dotprod+bf16")
namespace rung::cpu::HWY_NAMESPACE::dots_by_bf16 {

struct PairsOfBfloat16 : InGroups<bfloat16> {
  using Acc = float;
  using Sums = hn::Vec<hn::ScalableTag<float>>;

  static HWY_INLINE Sums add(Sums sum, Groups a, Groups b) {
    return Sums(vbfdotq_f32(sum.raw, vreinterpretq_bf16_u32(a.raw), vreinterpretq_bf16_u32(b.raw)));
  }
};

#include "device/cpu/group_dots-inl.hpp"

constexpr auto pairs = make_dots<PairsOfBfloat16>(MostRows());
const NarrowDots<bfloat16, float>* bf16() { return &pairs; }

}  // namespace rung::cpu::HWY_NAMESPACE::dots_by_bf16
HWY_POP_ATTRIBUTES
#endif

#if HWY_ONCE
namespace rung::cpu {

#if HWY_ARCH_ARM_A64
#if HWY_TARGETS & HWY_NEON
namespace arm = N_NEON;
#else
namespace arm = N_NEON_WITHOUT_AES;
#endif
#endif

template <>
const NarrowDots<bfloat16, float>* group_dots<bfloat16, float>() {
#if HWY_TARGETS & HWY_AVX3
  if (machine().isa.contains(Isa::avx512_bf16)) return N_AVX3::dots_by_avx512_bf16::bf16();
#elif HWY_ARCH_ARM_A64
  if (machine().isa.contains(Isa::neon_bf16)) return arm::dots_by_bf16::bf16();
#endif
#if HWY_TARGETS & HWY_AVX2
  if (machine().isa.ends_with_avx2()) return N_AVX2::dots_by_widening::bf16();
#endif
  return nullptr;
}

template <>
const NarrowDots<float16, float>* group_dots<float16, float>() {
#if HWY_TARGETS & HWY_AVX2
  if (machine().isa.ends_with_avx2()) return N_AVX2::dots_by_widening::f16();
#endif
  return nullptr;
}

template <>
const NarrowDots<std::int8_t, std::uint32_t>* group_dots<std::int8_t, std::uint32_t>() {
#if HWY_TARGETS & HWY_AVX3
  if (machine().isa.contains(Isa::avx512_vnni)) return N_AVX3::dots_by_vnni::i8();
#endif
#if HWY_TARGETS & HWY_AVX2
  if (machine().isa.contains(Isa::avx_vnni)) return N_AVX2::dots_by_vnni::i8();
  if (machine().isa.ends_with_avx2()) return N_AVX2::dots_by_widening::i8();
#endif
#if HWY_ARCH_ARM_A64
  if (machine().isa.contains(Isa::neon_dotprod)) return arm::dots_by_dotprod::i8();
#endif
  return nullptr;
}

}  // namespace rung::cpu
#endif  // HWY_ONCE
