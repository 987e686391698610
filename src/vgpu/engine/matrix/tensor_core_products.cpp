#include "vgpu/engine/matrix/tensor_core_products.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/tensor_core_products.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "vgpu/engine/matrix/matrix_elements.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Element = MatrixElement;

using Lanes = hn::CappedTag<float, product_rows>;
using Integers = hn::RebindToSigned<Lanes>;
using V = hn::Vec<Lanes>;
using VI = hn::Vec<Integers>;
constexpr Lanes d;
constexpr Integers di;
constexpr int lanes = static_cast<int>(hn::MaxLanes(Lanes()));

constexpr std::int16_t of_zero = -4096;               // far below the exponent of every product
constexpr std::int16_t of_infinity = 16000;           // and of NaN: far above
constexpr std::int32_t no_product = -1000;            // an exponent below this is that of zero
constexpr std::int32_t lowest = -100, highest = 120;  // where no step leaves the range of f32

/// exponent_of(), with infinities told apart.
HWY_INLINE VI short_exponents(V x, int least) {
  const VI bits = hn::And(hn::BitCast(di, x), hn::Set(di, 0x7FFFFFFF));
  const VI exponents =
      hn::Max(hn::Sub(hn::ShiftRight<23>(bits), hn::Set(di, 127)), hn::Set(di, least));
  const VI finite =
      hn::IfThenElse(hn::Gt(bits, hn::Set(di, 0x7F7FFFFF)), hn::Set(di, of_infinity), exponents);
  return hn::IfThenElse(hn::Eq(bits, hn::Zero(di)), hn::Set(di, of_zero), finite);
}

/// Where the sum has an element of a word: step_of(), the other way round.
HWY_INLINE int step_of_element(const PackedMatrix& from, int elements, int word, int element) {
  if (!from.by_halves) return word * elements + element;
  return element / 2 * (from.k / 2) + word * 2 + element % 2;
}

/// Element i of an array of them.
template <Element type>
HWY_INLINE float element_at(const std::uint32_t* words, int i) {
  using Bits =
      std::conditional_t<element_bits(type) == 32, std::uint32_t,
                         std::conditional_t<element_bits(type) == 16, std::uint16_t, std::uint8_t>>;
  Bits bits;
  std::memcpy(&bits, reinterpret_cast<const std::byte*>(words) + i * sizeof bits, sizeof bits);
  return matrix_element<type>(bits, 0);
}

template <Element type>
void set_rows_of(const PackedMatrix& from, ProductRows& to) {
  constexpr int elements = per_register(type);
  const float sign = from.negated ? -1.0f : 1.0f;
  for (int word = 0; word < from.k / elements; ++word) {
    const std::uint32_t* const words = from.words + word * product_rows;
    for (int element = 0; element < elements; ++element) {
      float* const values =
          to.values[static_cast<std::size_t>(step_of_element(from, elements, word, element))]
              .data();
      if (from.transposed) {
        const int first = (word * elements + element) * product_rows;
        RUNG_LANES for (int row = 0; row < product_rows; ++row) {
          values[row] = sign * element_at<type>(from.words, first + row);
        }
      } else {
        RUNG_LANES for (int row = 0; row < product_rows; ++row) {
          values[row] = sign * matrix_element<type>(words[row], element);
        }
      }
    }
  }
}

void set_row_exponents(const PackedMatrix& from, ProductRows& to) {
  for (std::size_t pair = 0; pair < static_cast<std::size_t>(from.k / 2); ++pair) {
    for (int row = 0; row < product_rows; row += lanes) {
      const VI even =
          short_exponents(hn::Load(d, to.values[2 * pair].data() + row), from.min_exponent);
      const VI odd =
          short_exponents(hn::Load(d, to.values[2 * pair + 1].data() + row), from.min_exponent);
      const VI both = hn::Or(hn::ShiftLeft<16>(odd), hn::And(even, hn::Set(di, 0xFFFF)));
      std::memcpy(to.exponents[pair].data() + 2 * row, &both, sizeof both);
    }
  }
}

template <Element type>
void set_columns_of(const PackedMatrix& from, int columns, ProductColumns& to) {
  constexpr int elements = per_register(type);
  const float sign = from.negated ? -1.0f : 1.0f;
  float* const values = to.values.data();
  if (!from.by_halves) {
    RUNG_LANES for (int i = 0; i < columns * from.k; ++i) {
      values[i] = sign * element_at<type>(from.words, i);
    }
    return;
  }
  const int words = from.k / elements;  // of a column
  for (int word = 0; word < columns * words; ++word) {
    for (int element = 0; element < elements; ++element) {
      const int step = step_of_element(from, elements, word % words, element);
      values[word / words * from.k + step] = sign * matrix_element<type>(from.words[word], element);
    }
  }
}

void set_column_exponents(const PackedMatrix& from, int columns, ProductColumns& to) {
  const hn::Rebind<std::int16_t, Lanes> d_short;
  for (int i = 0; i < columns * from.k; i += lanes) {
    const VI exponents = short_exponents(hn::Load(d, to.values.data() + i), from.min_exponent);
    hn::StoreU(hn::DemoteTo(d_short, exponents), d_short, to.exponents.data() + i);
  }
}

using Block = std::uint16_t[8][8];

/// to[i][j] = from[j][i]
HWY_INLINE void transpose_block(const Block& from, Block& to) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) to[i][j] = from[j][i];
  }
#else
  // Each round interleaves rows i and i + 4, which turns the bits of an element's index by one.
  const hn::FixedTag<std::uint16_t, 8> d_row;
  hn::Vec<decltype(d_row)> rows[8], turned[8];
  for (int i = 0; i < 8; ++i) rows[i] = hn::LoadU(d_row, from[i]);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      turned[2 * i] = hn::InterleaveLower(d_row, rows[i], rows[i + 4]);
      turned[2 * i + 1] = hn::InterleaveUpper(d_row, rows[i], rows[i + 4]);
    }
    for (int i = 0; i < 8; ++i) rows[i] = turned[i];
  }
  for (int i = 0; i < 8; ++i) hn::StoreU(rows[i], d_row, to[i]);
#endif
}

/// to[column * k + step] = from[step * columns + column], 8 x 8 elements of 16 bits at a time.
void transpose_columns(const std::uint32_t* words, int columns, int k, std::uint32_t* transposed) {
  const auto* const from = reinterpret_cast<const std::byte*>(words);
  auto* const to = reinterpret_cast<std::byte*>(transposed);
  constexpr int size = 8, bytes = 2;
  for (int column = 0; column < columns; column += size) {
    for (int step = 0; step < k; step += size) {
      std::uint16_t block[size][size], turned[size][size];
      for (int i = 0; i < size; ++i) {
        std::memcpy(block[i], from + ((step + i) * columns + column) * bytes, sizeof block[i]);
      }
      transpose_block(block, turned);
      for (int i = 0; i < size; ++i) {
        std::memcpy(to + ((column + i) * k + step) * bytes, turned[i], sizeof turned[i]);
      }
    }
  }
}

/// Calls f.template operator()<type>() for an element type.
template <class F>
void for_type(Element type, const F& f) {
  switch (type) {
    case Element::f16: return f.template operator()<Element::f16>();
    case Element::bf16: return f.template operator()<Element::bf16>();
    case Element::e4m3: return f.template operator()<Element::e4m3>();
    case Element::e5m2: return f.template operator()<Element::e5m2>();
    case Element::s8: return f.template operator()<Element::s8>();
    case Element::u8: return f.template operator()<Element::u8>();
    default: return f.template operator()<Element::tf32>();
  }
}

void set_rows(const PackedMatrix& from, ProductRows& to) {
  for_type(from.type, [&]<Element type>() { set_rows_of<type>(from, to); });
  set_row_exponents(from, to);
}

void set_columns(const PackedMatrix& matrix, int columns, ProductColumns& to) {
  PackedMatrix from = matrix;
  alignas(64) std::uint32_t words[most_product_columns * most_words];
  if (from.transposed) {
    transpose_columns(from.words, columns, from.k, words);
    from.words = words;
  }
  for_type(from.type, [&]<Element type>() { set_columns_of<type>(from, columns, to); });
  set_column_exponents(from, columns, to);
}

/// Toward zero, for values that fit.
HWY_INLINE VI cut(V x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return VI{_mm512_cvttps_epi32(x.raw)};  // Highway's ConvertTo() also deals with overflow
#elif HWY_TARGET == HWY_AVX2
  return VI{_mm256_cvttps_epi32(x.raw)};
#else
  return hn::ConvertTo(di, x);
#endif
}

/// A group of steps of `lanes` rows and one column.
struct Group {
  const SumRule& rule;
  int first, steps;
  const ProductRows& a;
  int row;
  const float* b;  // from the column's first step on
  const std::int16_t* of_b;
};

#if HWY_TARGET == HWY_SCALAR
template <int fixed_steps>
bool add_group_fast(const Group&, float*) {
  return false;
}
#else
/// The largest exponent of each row's products.
template <int fixed_steps>
HWY_INLINE VI largest_exponents(const Group& group) {
  const hn::Repartition<std::int16_t, Lanes> de;
  auto most = hn::Set(de, 2 * of_zero);
  const int steps = fixed_steps > 0 ? fixed_steps : group.steps;
  const auto* const of_b = reinterpret_cast<const std::int32_t*>(group.of_b + group.first);
#pragma GCC unroll 8
  for (int i = 0; i < steps; i += 2) {
    const auto at = static_cast<std::size_t>((group.first + i) / 2);
    const auto of_a = hn::Load(de, group.a.exponents[at].data() + 2 * group.row);
    std::int32_t pair;
    std::memcpy(&pair, of_b + i / 2, sizeof pair);
    most = hn::Max(most, hn::Add(of_a, hn::BitCast(de, hn::Set(di, pair))));
  }
  const VI pairs = hn::BitCast(di, most);
  return hn::Max(hn::ShiftRight<16>(pairs), hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs)));
}

HWY_INLINE VI exponents_of_sums(const SumRule& rule, V sums) {
  const VI bits = hn::And(hn::BitCast(di, sums), hn::Set(di, 0x7FFFFFFF));
  const VI exponents = hn::Sub(hn::ShiftRight<23>(bits), hn::Set(di, 127));
  const VI bounded = hn::Max(exponents, hn::Set(di, rule.min_exponent_c));
  return hn::IfThenElse(hn::Eq(bits, hn::Zero(di)), hn::Set(di, of_zero), bounded);
}

/// 2^x, of exponents of normal numbers.
HWY_INLINE V power_of_two(VI x) {
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(x, hn::Set(di, 127))));
}

/// rounded_sum() of `sum` units of 2^exponent.
HWY_INLINE V rounded(const SumRule& rule, VI sum, VI exponent) {
  const V nearest = hn::ConvertTo(d, sum);
  const auto is_too_large = hn::Gt(hn::Abs(cut(nearest)), hn::Abs(sum));
  VI bits = hn::Add(hn::BitCast(di, nearest), hn::VecFromMask(di, is_too_large));
  if (rule.is_half) {
    const auto is_inexact = hn::Ne(cut(hn::BitCast(d, bits)), sum);
    bits = hn::Or(bits, hn::IfThenElseZero(is_inexact, hn::Set(di, 1)));
    const V result = hn::Mul(hn::BitCast(d, bits), power_of_two(exponent));
    return hn::IfThenZeroElse(hn::Le(hn::Abs(result), hn::Set(d, 0x1p-25f)), result);
  }
  const auto kept = static_cast<std::int32_t>(~0u << (23 - rule.kept));
  bits = hn::And(bits, hn::Set(di, kept));
  return hn::Mul(hn::BitCast(d, bits), power_of_two(exponent));
}

/// sums += the products of a group. Returns false, with the sums as they were, where integers of
/// 32 bits do not do.
template <int fixed_steps>
HWY_INLINE bool add_group_fast(const Group& group, float* sums) {
  const SumRule& rule = group.rule;
  const V c = hn::LoadU(d, sums);
  const VI most_of_all = hn::Max(largest_exponents<fixed_steps>(group), exponents_of_sums(rule, c));
  const auto is_low = hn::And(hn::Lt(most_of_all, hn::Set(di, lowest)),
                              hn::Gt(most_of_all, hn::Set(di, no_product)));
  const auto is_outside = hn::Or(hn::Gt(most_of_all, hn::Set(di, highest)), is_low);
  const VI most = hn::Max(most_of_all, hn::Set(di, lowest));
  const VI fraction = hn::Set(di, rule.fraction);
  const V scale = power_of_two(hn::Sub(fraction, most));
  VI even = cut(hn::Mul(c, scale)), odd = hn::Zero(di);
  const int steps = fixed_steps > 0 ? fixed_steps : group.steps;
#pragma GCC unroll 16
  for (int i = group.first; i < group.first + steps; i += 2) {
    const auto at = static_cast<std::size_t>(i);
    const V a_even = hn::Load(d, group.a.values[at].data() + group.row);
    const V a_odd = hn::Load(d, group.a.values[at + 1].data() + group.row);
    even = hn::Add(even, cut(hn::Mul(hn::Mul(a_even, hn::Set(d, group.b[i])), scale)));
    odd = hn::Add(odd, cut(hn::Mul(hn::Mul(a_odd, hn::Set(d, group.b[i + 1])), scale)));
  }
  // 17 terms of less than 2^27 units may be too many.
  const V about = hn::Add(hn::ConvertTo(d, even), hn::ConvertTo(d, odd));
  const auto is_large = hn::Ge(hn::Abs(about), hn::Set(d, 0x1.F8p30f));
  if (!hn::AllFalse(di, hn::Or(is_outside, hn::RebindMask(di, is_large)))) return false;
  hn::StoreU(rounded(rule, hn::Add(even, odd), hn::Sub(most, fraction)), d, sums);
  return true;
}
#endif

/// The same as the rule is written.
HWY_NOINLINE void add_group_exactly(const Group& group, float* sums) {
  Columns<lanes> of_a;
  double b[most_steps];
  std::int32_t of_b[most_steps];
  for (int i = 0; i < group.steps; ++i) {
    const auto at = static_cast<std::size_t>(group.first + i);
    const float* const values = group.a.values[at].data() + group.row;
    for (int lane = 0; lane < lanes; ++lane) {
      const auto place = static_cast<std::size_t>(2 * (group.row + lane)) + at % 2;
      of_a.values[i][lane] = values[lane];
      of_a.exponents[i][lane] = group.a.exponents[at / 2][place];
    }
    b[i] = group.b[at];
    of_b[i] = group.of_b[at];
  }
  float of_rows[lanes];
  std::copy_n(sums, lanes, of_rows);
  add_group(group.rule, 0, group.steps, b, of_b, of_a, of_rows);
  std::copy_n(of_rows, lanes, sums);
}

HWY_INLINE void add_steps(const Group& group, float* sums) {
  const bool is_done =
      group.steps == 16 ? add_group_fast<16>(group, sums) : add_group_fast<0>(group, sums);
  if (!is_done) add_group_exactly(group, sums);
}

/// C is added last, in f32 to nearest, to the products of both halves of the steps.
void add_by_halves(Group group, int k, float* sums) {
  SumRule of_products = group.rule;
  of_products.is_half = false;
  of_products.min_exponent_c = -126;
  alignas(64) float products[lanes] = {};
  for (const int first : {0, k / 2}) {
    add_steps({of_products, first, k / 2, group.a, group.row, group.b, group.of_b}, products);
  }
  for (int lane = 0; lane < lanes; ++lane) sums[lane] += products[lane];
}

void add_floats(const SumRule& rule, int k, const ProductRows& a, const ColumnRange& b,
                ProductSums* sums) {
  for (int column = 0; column < b.count; ++column) {
    const float* const of_column = b.of.values.data() + (b.first + column) * k;
    const std::int16_t* const exponents = b.of.exponents.data() + (b.first + column) * k;
    for (int row = 0; row < product_rows; row += lanes) {
      float* const to = sums[column].data() + row;
      if (rule.by_halves) {
        add_by_halves({rule, 0, k, a, row, of_column, exponents}, k, to);
        continue;
      }
      for (int first = 0; first < k; first += rule.group) {
        const int steps = std::min(rule.group, k - first);
        add_steps({rule, first, steps, a, row, of_column, exponents}, to);
      }
    }
  }
}

void add_integers(int k, const ProductRows& a, const ColumnRange& b, ProductSums* sums) {
  for (int column = 0; column < b.count; ++column) {
    const float* const factors = b.of.values.data() + (b.first + column) * k;
    for (int row = 0; row < product_rows; row += lanes) {
      float* const to = sums[column].data() + row;
      V sum = hn::LoadU(d, to);
      for (int step = 0; step < k; ++step) {
        const V of_rows = hn::Load(d, a.values[static_cast<std::size_t>(step)].data() + row);
        sum = hn::MulAdd(of_rows, hn::Set(d, factors[step]), sum);
      }
      hn::StoreU(sum, d, to);
    }
  }
}

constexpr TensorProducts functions = {set_rows, set_columns, add_floats, add_integers};

const TensorProducts* all_functions() { return &functions; }

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

const TensorProducts& tensor_products() {
  static const TensorProducts& picked = *RUNG_PICK_LANES(all_functions)();
  return picked;
}

}  // namespace rung::vgpu
#endif
