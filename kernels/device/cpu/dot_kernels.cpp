#include "device/cpu/dot_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include "rung/types.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/dot_kernels.cpp"
#include "device/cpu/simd.hpp"
// Also compiled once per instruction set.
#include "device/cpu/pack_groups-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using MostRows =
    std::make_integer_sequence<int, HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 ? 14 : 6>;

PackGroups<bfloat16> packer_of_bf16() { return pack_panel_of_groups<std::uint16_t, bfloat16>; }
PackGroups<std::int8_t> packer_of_i8() { return pack_panel_of_groups<std::int8_t, std::int8_t>; }

/// int8 without a dot-product instruction: as pairs of int16, whose two products fit in 32 bits.
struct PairsOfInt16 {
  using In = std::int8_t;
  using Acc = std::uint32_t;
  static constexpr std::int64_t group = 2;
  static constexpr bool direct = false;
  static constexpr auto pack_a = pack_panel_of_groups<std::int16_t, std::int8_t>;
  static constexpr auto pack_b = pack_panel_of_groups<std::int16_t, std::int8_t>;
  static constexpr std::nullptr_t start_rows = nullptr;

  using D = hn::ScalableTag<std::int32_t>;
  using Groups = hn::Vec<hn::ScalableTag<KGroup>>;

  static HWY_INLINE Groups add(Groups sum, Groups a, Groups b) {
    const D d;
    const hn::ScalableTag<KGroup> groups;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
    const hn::Repartition<std::int16_t, D> halves;
    auto none = hn::Zero(d);
    // On x86 this is pmaddwd, which adds neighboring products and leaves the second sum alone.
    auto result = hn::ReorderWidenMulAccumulate(d, hn::BitCast(halves, a), hn::BitCast(halves, b),
                                                hn::BitCast(d, sum), none);
    // Keep each addition next to its multiplication; otherwise GCC spills the sums. See
    // multiply_add() in micro_kernels.cpp.
    asm("" : "+v"(result.raw));
    return hn::BitCast(groups, result);
#else
    const auto lower = [&](Groups pair) {
      return hn::ShiftRight<16>(hn::BitCast(d, hn::ShiftLeft<16>(pair)));
    };
    const auto upper = [&](Groups pair) { return hn::ShiftRight<16>(hn::BitCast(d, pair)); };
    const auto products = hn::Add(hn::Mul(lower(a), lower(b)), hn::Mul(upper(a), upper(b)));
    return hn::Add(sum, hn::BitCast(groups, products));
#endif
  }
};

#include "device/cpu/dot_tile-inl.hpp"

constexpr auto pairs = make_dot_kernels<PairsOfInt16>(MostRows());
const DotKernels<std::int8_t, std::uint32_t>* i8_pairs() { return &pairs; }

}  // namespace rung::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Dot-product extensions, each in the namespace of its register file.

#if HWY_TARGET == HWY_AVX2
#define RUNG_BYTES_TARGET HWY_TARGET_STR ",avxvnni"
#elif HWY_TARGET == HWY_AVX3
#define RUNG_BYTES_TARGET HWY_TARGET_STR ",avx512vnni"
#endif

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(RUNG_BYTES_TARGET)
namespace rung::cpu::HWY_NAMESPACE::vnni {

/// vpdpbusd multiplies unsigned bytes of B by signed bytes of A and wraps modulo 2^32. B gets an
/// offset of 128 to make it unsigned, and the sums of a row start at -128 times the row sum of A.
struct BytesOfInt8 {
  using In = std::int8_t;
  using Acc = std::uint32_t;
  static constexpr std::int64_t group = 4;
  static constexpr bool direct = true;
  static constexpr KGroup offsets = 0x80808080;

  using D = hn::ScalableTag<KGroup>;
  using Groups = hn::Vec<D>;

  static HWY_INLINE Groups add(Groups sum, Groups a, Groups b) {
#if HWY_TARGET == HWY_AVX3
    return Groups{_mm512_dpbusd_epi32(sum.raw, b.raw, a.raw)};
#else
    return Groups{_mm256_dpbusd_avx_epi32(sum.raw, b.raw, a.raw)};
#endif
  }

  static constexpr auto pack_a = pack_panel_of_groups<std::int8_t, std::int8_t>;

  static void pack_b(std::int64_t k, const Matrix<const std::int8_t>& matrix, std::int64_t valid,
                     std::int64_t width, KGroup* panel) {
    pack_panel_of_groups<std::int8_t>(k, matrix, valid, width, panel);
    const std::int64_t steps = (k + group - 1) / group;
    for (std::int64_t i = 0; i < steps * width; ++i) panel[i] ^= offsets;
  }

  static void start_rows(std::int64_t k, const Matrix<const std::int8_t>& a, std::int64_t rows,
                         std::uint32_t* start) {
    if (a.col_stride == 1) {
      for (std::int64_t i = 0; i < rows; ++i) start[i] = -128u * sum_of_row(k, &a(i, 0));
      return;
    }
    std::fill_n(start, rows, 0u);
    for (std::int64_t j = 0; j < k; ++j) add_column(rows, &a(0, j), start);
    for (std::int64_t i = 0; i < rows; ++i) start[i] *= -128u;
  }

  static std::uint32_t sum_of_row(std::int64_t k, const std::int8_t* row) {
    const D d;
    const hn::ScalableTag<std::int8_t> bytes;
    constexpr std::int64_t lanes = hn::MaxLanes(bytes);
    auto sums = hn::Zero(d);
    std::int64_t j = 0;
    for (; j + lanes <= k; j += lanes) {
      sums = add(sums, hn::BitCast(d, hn::LoadU(bytes, row + j)), hn::Set(d, 0x01010101));
    }
    std::uint32_t sum = hn::GetLane(hn::SumOfLanes(d, sums));
    for (; j < k; ++j) sum += static_cast<std::uint32_t>(row[j]);
    return sum;
  }

  /// sums[i] += column[i]
  static HWY_INLINE void add_column(std::int64_t rows, const std::int8_t* column,
                                    std::uint32_t* sums) {
#if HWY_TARGET == HWY_AVX3
    static_assert(MostRows::size() <= 16);
    const auto mask = static_cast<__mmask16>((1u << rows) - 1);
    const __m512i words = _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, column));
    _mm512_mask_storeu_epi32(sums, mask,
                             _mm512_add_epi32(_mm512_maskz_loadu_epi32(mask, sums), words));
#else
    for (std::int64_t i = 0; i < rows; ++i) sums[i] += static_cast<std::uint32_t>(column[i]);
#endif
  }
};

#include "device/cpu/dot_tile-inl.hpp"

constexpr auto bytes = make_dot_kernels<BytesOfInt8>(MostRows());
const DotKernels<std::int8_t, std::uint32_t>* i8() { return &bytes; }

}  // namespace rung::cpu::HWY_NAMESPACE::vnni
HWY_POP_ATTRIBUTES
#undef RUNG_BYTES_TARGET
#endif

#if HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace rung::cpu::HWY_NAMESPACE::avx512_bf16 {

/// vdpbf16ps adds two products to a float and rounds each to nearest even. Regardless of MXCSR, it
/// treats subnormal inputs as 0 and flushes subnormal sums to 0.
struct PairsOfBfloat16 {
  using In = bfloat16;
  using Acc = float;
  static constexpr std::int64_t group = 2;
  static constexpr bool direct = true;
  static constexpr auto pack_a = pack_panel_of_groups<std::uint16_t, bfloat16>;
  static constexpr auto pack_b = pack_panel_of_groups<std::uint16_t, bfloat16>;
  static constexpr std::nullptr_t start_rows = nullptr;

  using Sums = hn::Vec<hn::ScalableTag<float>>;
  using Groups = hn::Vec<hn::ScalableTag<KGroup>>;

  static HWY_INLINE Sums add(Sums sum, Groups a, Groups b) {
    return Sums{_mm512_dpbf16_ps(sum.raw, (__m512bh)a.raw, (__m512bh)b.raw)};
  }
};

#include "device/cpu/dot_tile-inl.hpp"

constexpr auto pairs = make_dot_kernels<PairsOfBfloat16>(MostRows());
const DotKernels<bfloat16, float>* bf16() { return &pairs; }

}  // namespace rung::cpu::HWY_NAMESPACE::avx512_bf16
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
namespace rung::cpu::HWY_NAMESPACE::dotprod {

/// sdot adds four products of signed bytes to a 32-bit sum and wraps.
struct BytesOfInt8 {
  using In = std::int8_t;
  using Acc = std::uint32_t;
  static constexpr std::int64_t group = 4;
  static constexpr bool direct = true;
  static constexpr auto pack_a = pack_panel_of_groups<std::int8_t, std::int8_t>;
  static constexpr auto pack_b = pack_panel_of_groups<std::int8_t, std::int8_t>;
  static constexpr std::nullptr_t start_rows = nullptr;

  using Groups = hn::Vec<hn::ScalableTag<KGroup>>;

  static HWY_INLINE Groups add(Groups sum, Groups a, Groups b) {
    return Groups(vreinterpretq_u32_s32(vdotq_s32(
        vreinterpretq_s32_u32(sum.raw), vreinterpretq_s8_u32(a.raw), vreinterpretq_s8_u32(b.raw))));
  }
};

#include "device/cpu/dot_tile-inl.hpp"

constexpr auto bytes = make_dot_kernels<BytesOfInt8>(MostRows());
const DotKernels<std::int8_t, std::uint32_t>* i8() { return &bytes; }

}  // namespace rung::cpu::HWY_NAMESPACE::dotprod
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES(RUNG_ARM_TARGET "+dotprod+bf16")
namespace rung::cpu::HWY_NAMESPACE::bf16 {

/// bfdot adds two products to a float. Unlike an FMA, it rounds each of its three steps to odd and
/// treats subnormal numbers as 0.
struct PairsOfBfloat16 {
  using In = bfloat16;
  using Acc = float;
  static constexpr std::int64_t group = 2;
  static constexpr bool direct = true;
  static constexpr auto pack_a = pack_panel_of_groups<std::uint16_t, bfloat16>;
  static constexpr auto pack_b = pack_panel_of_groups<std::uint16_t, bfloat16>;
  static constexpr std::nullptr_t start_rows = nullptr;

  using Sums = hn::Vec<hn::ScalableTag<float>>;
  using Groups = hn::Vec<hn::ScalableTag<KGroup>>;

  static HWY_INLINE Sums add(Sums sum, Groups a, Groups b) {
    return Sums(vbfdotq_f32(sum.raw, vreinterpretq_bf16_u32(a.raw), vreinterpretq_bf16_u32(b.raw)));
  }
};

#include "device/cpu/dot_tile-inl.hpp"

constexpr auto pairs = make_dot_kernels<PairsOfBfloat16>(MostRows());
const DotKernels<bfloat16, float>* bf16() { return &pairs; }

}  // namespace rung::cpu::HWY_NAMESPACE::bf16
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
PackGroups<bfloat16> pack_groups<bfloat16>() {
  static const auto picked = RUNG_PICK_TARGET(packer_of_bf16)();
  return picked;
}

template <>
PackGroups<std::int8_t> pack_groups<std::int8_t>() {
  static const auto picked = RUNG_PICK_TARGET(packer_of_i8)();
  return picked;
}

template <>
const DotKernels<bfloat16, float>* dot_kernels<bfloat16, float>() {
#if HWY_TARGETS & HWY_AVX3
  if (machine().isa.contains(Isa::avx512_bf16)) return N_AVX3::avx512_bf16::bf16();
#elif HWY_ARCH_ARM_A64
  if (machine().isa.contains(Isa::neon_bf16)) return arm::bf16::bf16();
#endif
  return nullptr;
}

template <>
const DotKernels<std::int8_t, std::uint32_t>* dot_kernels<std::int8_t, std::uint32_t>() {
#if HWY_TARGETS & HWY_AVX3
  if (machine().isa.contains(Isa::avx512_vnni)) return N_AVX3::vnni::i8();
#endif
#if HWY_TARGETS & HWY_AVX2
  if (machine().isa.contains(Isa::avx_vnni)) return N_AVX2::vnni::i8();
#endif
#if HWY_ARCH_ARM_A64
  if (machine().isa.contains(Isa::neon_dotprod)) return arm::dotprod::i8();
#endif
  static const auto* const picked = RUNG_PICK_TARGET(i8_pairs)();
  return picked;
}

}  // namespace rung::cpu
#endif  // HWY_ONCE
