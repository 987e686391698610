#include "device/cpu/dot_kernels.hpp"

#include <algorithm>
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

/// Packs groups [first, last) of columns [c, c_end), the last one perhaps of fewer than K's elements.
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
    for (std::int64_t i = 0; i < c; i += columns) {
      interleave_rows(&matrix(step * group, i), matrix.row_stride, panel + step * width + i);
    }
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

/// int8 without an instruction for it: as pairs of int16. Two products fit in 32 bits.
struct PairsOfInt16 {
  using In = std::int8_t;
  using Acc = std::uint32_t;
  static constexpr std::int64_t group = 2;
  static constexpr bool has_header = false;
  static constexpr auto pack_a = pack_panel_of_groups<std::int16_t, std::int8_t>;
  static constexpr auto pack_b = pack_panel_of_groups<std::int16_t, std::int8_t>;

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

/// vpdpbusd multiplies unsigned bytes of A with signed bytes of B and wraps modulo 2^32. A gets an
/// offset of 128, which makes it unsigned, and the sums start at -128 times the sum of B's column:
/// the header of B.
struct BytesOfInt8 {
  using In = std::int8_t;
  using Acc = std::uint32_t;
  static constexpr std::int64_t group = 4;
  static constexpr bool has_header = true;
  static constexpr KGroup offsets = 0x80808080;

  using D = hn::ScalableTag<KGroup>;
  using Groups = hn::Vec<D>;

  static HWY_INLINE Groups add(Groups sum, Groups a, Groups b) {
#if HWY_TARGET == HWY_AVX3
    return Groups{_mm512_dpbusd_epi32(sum.raw, a.raw, b.raw)};
#else
    return Groups{_mm256_dpbusd_avx_epi32(sum.raw, a.raw, b.raw)};
#endif
  }

  static void pack_a(std::int64_t k, const Matrix<const std::int8_t>& matrix, std::int64_t valid,
                     std::int64_t width, KGroup* panel) {
    pack_panel_of_groups<std::int8_t>(k, matrix, valid, width, panel);
    const std::int64_t steps = (k + group - 1) / group;
    for (std::int64_t i = 0; i < steps * width; ++i) panel[i] ^= offsets;
  }

  static void pack_b(std::int64_t k, const Matrix<const std::int8_t>& matrix, std::int64_t valid,
                     std::int64_t width, KGroup* panel) {
    const D d;
    constexpr std::int64_t lanes = hn::MaxLanes(d);
    KGroup* const groups = panel + width;
    pack_panel_of_groups<std::int8_t>(k, matrix, valid, width, groups);
    for (std::int64_t c = 0; c < width; c += lanes) {
      auto sum = hn::Zero(d);
      for (std::int64_t step = 0; step * group < k; ++step) {
        sum = add(sum, hn::Set(d, offsets), hn::LoadU(d, groups + step * width + c));
      }
      hn::StoreU(hn::Sub(hn::Zero(d), sum), d, panel + c);
    }
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
  static constexpr bool has_header = false;
  static constexpr auto pack_a = pack_panel_of_groups<std::uint16_t, bfloat16>;
  static constexpr auto pack_b = pack_panel_of_groups<std::uint16_t, bfloat16>;

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

#if HWY_ONCE
namespace rung::cpu {

template <>
const DotKernels<bfloat16, float>* dot_kernels<bfloat16, float>() {
#if HWY_TARGETS & HWY_AVX3
  if (machine().isa.contains(Isa::avx512_bf16)) return N_AVX3::avx512_bf16::bf16();
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
  static const auto* const picked = RUNG_PICK_TARGET(i8_pairs)();
  return picked;
}

}  // namespace rung::cpu
#endif  // HWY_ONCE
