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

HWY_BEFORE_NAMESPACE();
namespace rung::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using MostRows =
    std::make_integer_sequence<int, HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 ? 14 : 6>;

/// The elements of a group that are at `at`, `stride` apart; `count` of them are there.
template <class Element, class In>
HWY_INLINE KGroup gather_group(const In* at, std::int64_t stride, std::int64_t count) {
  constexpr int bits = 8 * sizeof(Element);
  KGroup group = 0;
  for (std::int64_t e = 0; e < count; ++e) {
    if constexpr (std::is_same_v<In, bfloat16>) {
      group |= KGroup{at[e * stride].bits} << bits * e;
    } else {
      using Bits = std::make_unsigned_t<Element>;
      group |= KGroup{static_cast<Bits>(Element{at[e * stride]})} << bits * e;
    }
  }
  return group;
}

/// Packs the groups from `first` on of columns [c, c_end). The last group may be cut short by K.
template <class Element, class In>
void pack_groups(std::int64_t k, const Matrix<const In>& matrix, std::int64_t first, std::int64_t c,
                 std::int64_t c_end, std::int64_t width, KGroup* panel) {
  constexpr std::int64_t group = sizeof(KGroup) / sizeof(Element);
  const std::int64_t whole = k / group;
  for (std::int64_t step = first; step < whole; ++step) {
    for (std::int64_t i = c; i < c_end; ++i) {
      panel[step * width + i] =
          gather_group<Element>(&matrix(step * group, i), matrix.row_stride, group);
    }
  }
  if (whole * group == k) return;
  for (std::int64_t i = c; i < c_end; ++i) {
    panel[whole * width + i] =
        gather_group<Element>(&matrix(whole * group, i), matrix.row_stride, k - whole * group);
  }
}

#if HWY_TARGET != HWY_SCALAR

/// Four columns by four groups, where the groups of a column are contiguous in memory.
HWY_INLINE void transpose_groups(const unsigned char* matrix, std::int64_t column_bytes,
                                 std::int64_t width, KGroup* panel) {
  const hn::FixedTag<std::uint8_t, 16> bytes;
  const hn::FixedTag<KGroup, 4> d;
  const hn::FixedTag<std::uint64_t, 2> pair;
  const auto column = [&](int c) {
    return hn::BitCast(d, hn::LoadU(bytes, matrix + c * column_bytes));
  };
  const auto c0 = column(0), c1 = column(1), c2 = column(2), c3 = column(3);
  const auto lower01 = hn::BitCast(pair, hn::InterleaveLower(d, c0, c1));
  const auto lower23 = hn::BitCast(pair, hn::InterleaveLower(d, c2, c3));
  const auto upper01 = hn::BitCast(pair, hn::InterleaveUpper(d, c0, c1));
  const auto upper23 = hn::BitCast(pair, hn::InterleaveUpper(d, c2, c3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pair, lower01, lower23)), d, panel);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pair, lower01, lower23)), d, panel + width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pair, upper01, upper23)), d, panel + 2 * width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pair, upper01, upper23)), d, panel + 3 * width);
}

/// Sixteen bytes of each row of a step, which become groups.
HWY_INLINE void interleave_rows(const bfloat16* matrix, std::int64_t stride, KGroup* panel) {
  const hn::FixedTag<std::uint16_t, 8> d;
  const hn::FixedTag<KGroup, 4> groups;
  const auto r0 = hn::LoadU(d, &matrix->bits);
  const auto r1 = hn::LoadU(d, &matrix[stride].bits);
  hn::StoreU(hn::BitCast(groups, hn::InterleaveLower(d, r0, r1)), groups, panel);
  hn::StoreU(hn::BitCast(groups, hn::InterleaveUpper(d, r0, r1)), groups, panel + 4);
}
HWY_INLINE void interleave_rows(const std::int8_t* matrix, std::int64_t stride, KGroup* panel) {
  const hn::FixedTag<std::int8_t, 16> d;
  const hn::FixedTag<std::int16_t, 8> pairs;
  const hn::FixedTag<KGroup, 4> groups;
  const auto r0 = hn::LoadU(d, matrix), r1 = hn::LoadU(d, matrix + stride);
  const auto r2 = hn::LoadU(d, matrix + 2 * stride), r3 = hn::LoadU(d, matrix + 3 * stride);
  const auto lower01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
  const auto lower23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto upper01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
  const auto upper23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  const auto store = [&](auto interleaved, int at) {
    hn::StoreU(hn::BitCast(groups, interleaved), groups, panel + at);
  };
  store(hn::InterleaveLower(pairs, lower01, lower23), 0);
  store(hn::InterleaveUpper(pairs, lower01, lower23), 4);
  store(hn::InterleaveLower(pairs, upper01, upper23), 8);
  store(hn::InterleaveUpper(pairs, upper01, upper23), 12);
}

#if HWY_TARGET == HWY_AVX3

/// 32 columns of two rows of 16-bit elements.
HWY_INLINE void interleave_32_columns(const bfloat16* matrix, std::int64_t stride, KGroup* panel) {
  // The numbers of elements 0 to 15 of the first row, and of those below them: 0, 32, 1, 33, …
  const __m512i count = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i first = _mm512_add_epi32(_mm512_or_si512(count, _mm512_slli_epi32(count, 16)),
                                         _mm512_set1_epi32(32 << 16));
  const __m512i second = _mm512_add_epi16(first, _mm512_set1_epi16(16));
  const __m512i r0 = _mm512_loadu_si512(matrix);
  const __m512i r1 = _mm512_loadu_si512(matrix + stride);
  _mm512_storeu_si512(panel, _mm512_permutex2var_epi16(r0, first, r1));
  _mm512_storeu_si512(panel + 16, _mm512_permutex2var_epi16(r0, second, r1));
}

/// 32 columns of four rows of bytes.
HWY_INLINE void interleave_32_columns(const std::int8_t* matrix, std::int64_t stride,
                                      KGroup* panel) {
  const auto row = [&](int i) HWY_ATTR {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(matrix + i * stride));
  };
  const __m256i r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
  const __m256i lower01 = _mm256_unpacklo_epi8(r0, r1), upper01 = _mm256_unpackhi_epi8(r0, r1);
  const __m256i lower23 = _mm256_unpacklo_epi8(r2, r3), upper23 = _mm256_unpackhi_epi8(r2, r3);
  // Halves of 128 bits: four columns, and the four that are sixteen columns further on.
  const auto pair = [](__m256i low, __m256i high) HWY_ATTR {
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
  };
  const __m512i columns_0 =
      pair(_mm256_unpacklo_epi16(lower01, lower23), _mm256_unpackhi_epi16(lower01, lower23));
  const __m512i columns_8 =
      pair(_mm256_unpacklo_epi16(upper01, upper23), _mm256_unpackhi_epi16(upper01, upper23));
  _mm512_storeu_si512(panel, _mm512_shuffle_i64x2(columns_0, columns_8, 0x88));
  _mm512_storeu_si512(panel + 16, _mm512_shuffle_i64x2(columns_0, columns_8, 0xDD));
}

#endif

/// Packs what whole vectors cover: all groups before the returned one, of the columns before `c`.
template <class In>
std::int64_t pack_vectors(std::int64_t k, const Matrix<const In>& matrix, std::int64_t valid,
                          std::int64_t width, KGroup* panel, std::int64_t& c) {
  constexpr std::int64_t group = sizeof(KGroup) / sizeof(In);
  const std::int64_t whole = k / group;
  if (matrix.row_stride == 1) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(matrix.data);
    const std::int64_t column_bytes = matrix.col_stride * std::int64_t{sizeof(In)};
    const std::int64_t done = whole / 4 * 4;
    for (; c + 4 <= valid; c += 4) {
      for (std::int64_t step = 0; step < done; step += 4) {
        transpose_groups(bytes + c * column_bytes + step * 4, column_bytes, width,
                         panel + step * width + c);
      }
    }
    return done;
  }
  constexpr std::int64_t columns = 16 / sizeof(In);
  c = valid / columns * columns;
  for (std::int64_t step = 0; step < whole; ++step) {
    const In* const row = &matrix(step * group, 0);
    KGroup* const packed = panel + step * width;
    std::int64_t i = 0;
#if HWY_TARGET == HWY_AVX3
    for (; i + 32 <= c; i += 32) interleave_32_columns(row + i, matrix.row_stride, packed + i);
#endif
    for (; i < c; i += columns) interleave_rows(row + i, matrix.row_stride, packed + i);
  }
  return whole;
}

#endif

/// Element: what the elements of the matrix become.
template <class Element, class In>
void pack_panel_of_groups(std::int64_t k, const Matrix<const In>& matrix, std::int64_t valid,
                          std::int64_t width, KGroup* panel) {
  std::int64_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(Element) == sizeof(In)) {
    const std::int64_t first = pack_vectors(k, matrix, valid, width, panel, c);
    pack_groups<Element>(k, matrix, first, 0, c, width, panel);
  }
#endif
  pack_groups<Element>(k, matrix, 0, c, valid, width, panel);
  if (valid == width) return;
  constexpr std::int64_t group = sizeof(KGroup) / sizeof(Element);
  for (std::int64_t step = 0; step * group < k; ++step) {
    std::fill(panel + step * width + valid, panel + (step + 1) * width, KGroup{0});
  }
}

PackGroups<bfloat16> packer_of_bf16() { return pack_panel_of_groups<std::uint16_t, bfloat16>; }
PackGroups<std::int8_t> packer_of_i8() { return pack_panel_of_groups<std::int8_t, std::int8_t>; }

/// int8 without an instruction for it: as pairs of int16. Two products fit in 32 bits.
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
    // pmaddwd, which on x86 adds neighbouring products and leaves the second sum alone.
    return hn::BitCast(
        groups, hn::ReorderWidenMulAccumulate(d, hn::BitCast(halves, a), hn::BitCast(halves, b),
                                              hn::BitCast(d, sum), none));
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

// Each extension with the namespace of its register file.

#if HWY_TARGET == HWY_AVX2
#define RUNG_BYTES_TARGET HWY_TARGET_STR ",avxvnni"
#elif HWY_TARGET == HWY_AVX3
#define RUNG_BYTES_TARGET HWY_TARGET_STR ",avx512vnni"
#endif

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(RUNG_BYTES_TARGET)
namespace rung::cpu::HWY_NAMESPACE::vnni {

/// vpdpbusd multiplies unsigned bytes of B with signed bytes of A and wraps modulo 2^32. B gets an
/// offset of 128, which makes it unsigned, and the sums of a row start at -128 times the sum of A's
/// row.
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

/// vdpbf16ps adds two products to a float, each with a rounding to nearest even. It takes subnormal
/// inputs for 0 and flushes subnormal sums to 0, whatever MXCSR says.
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

/// sdot adds the products of four signed bytes to a sum of 32 bits, and wraps.
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

/// bfdot adds two products to a float. Unlike an FMA it rounds each of its three steps to odd, and
/// takes subnormal numbers for 0.
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
