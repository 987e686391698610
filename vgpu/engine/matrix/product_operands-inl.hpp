// Unpacks elements and exponents of matrices into the order in which tensor_core_products.cpp
// multiplies them. Included once per instruction set.

#if defined(RUNG_VGPU_ENGINE_PRODUCT_OPERANDS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef HWY_TARGET_TOGGLE
#undef RUNG_VGPU_ENGINE_PRODUCT_OPERANDS_INL_HPP
#else
#define RUNG_VGPU_ENGINE_PRODUCT_OPERANDS_INL_HPP
#endif

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/matrix/tensor_core_products.hpp"
#include "vgpu/engine/matrix/transpose_square.hpp"

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

// Exponents are multiplied by 2^exponent_shift. Exponents of B include the bias of f32, so a sum of
// two exponents can be shifted into the f32 exponent position. No sum of two exceeds 16 bits.
constexpr int exponent_shift = 4;
constexpr std::int16_t zero_exponent = -12000;       // keeps products below no_product_exponent
constexpr std::int16_t no_product_exponent = -5000;  // below the sum of any two exponents
constexpr std::int16_t infinity_exponent =
    16383;  // also of NaN: the maximum, even if added to zero_exponent

/// exponent_of(), but distinguishes infinities.
HWY_INLINE VI short_exponents(V x, int least, int bias) {
  const VI bits = hn::And(hn::BitCast(di, x), hn::Set(di, 0x7FFFFFFF));
  const VI biased = hn::Max(hn::ShiftRight<23>(bits), hn::Set(di, least + 127));
  const VI placed = hn::ShiftLeft<exponent_shift>(hn::Sub(biased, hn::Set(di, 127 - bias)));
  const VI finite =
      hn::IfThenElse(hn::Gt(bits, hn::Set(di, 0x7F7FFFFF)), hn::Set(di, infinity_exponent), placed);
  return hn::IfThenElse(hn::Eq(bits, hn::Zero(di)), hn::Set(di, zero_exponent), finite);
}

/// The inverse of step_of(): the step at which the sum uses an element of a word.
HWY_INLINE int step_of_element(const PackedMatrix& from, int elements, int word, int element) {
  if (!from.by_halves) return word * elements + element;
  return element / 2 * (from.k / 2) + word * 2 + element % 2;
}

/// Element i of a packed array.
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
          short_exponents(hn::Load(d, to.values[2 * pair].data() + row), from.min_exponent, 0);
      const VI odd =
          short_exponents(hn::Load(d, to.values[2 * pair + 1].data() + row), from.min_exponent, 0);
      const VI both = hn::Or(hn::ShiftLeft<16>(odd), hn::And(even, hn::Set(di, 0xFFFF)));
      std::memcpy(to.exponents[pair].data() + 2 * row, &both, sizeof both);
    }
  }
}

template <Element type>
void set_columns_of(const PackedMatrix& from, int columns, const ProductColumns& to) {
  constexpr int elements = per_register(type);
  const float sign = from.negated ? -1.0f : 1.0f;
  float* const values = to.values;
  if (!from.by_halves) {
    RUNG_LANES for (int i = 0; i < columns * from.k; ++i) {
      values[i] = sign * element_at<type>(from.words, i);
    }
    return;
  }
  const int words = from.k / elements;  // per column
  for (int word = 0; word < columns * words; ++word) {
    for (int element = 0; element < elements; ++element) {
      const int step = step_of_element(from, elements, word % words, element);
      values[word / words * from.k + step] = sign * matrix_element<type>(from.words[word], element);
    }
  }
}

void set_column_exponents(const PackedMatrix& from, int columns, const ProductColumns& to) {
  const hn::Rebind<std::int16_t, Lanes> d_short;
  for (int i = 0; i < columns * from.k; i += lanes) {
    const VI exponents = short_exponents(hn::Load(d, to.values + i), from.min_exponent, 127);
    hn::StoreU(hn::DemoteTo(d_short, exponents), d_short, to.exponents + i);
  }
}

#if HWY_TARGET != HWY_SCALAR
// 16-bit elements, two steps per word: values and exponents in vectors of words.

using Words = hn::RebindToUnsigned<Lanes>;
using Halves = hn::Repartition<std::int16_t, Lanes>;
constexpr Words dw;
constexpr Halves dh;

/// short_exponents() for each half of the words.
template <Element type>
HWY_INLINE hn::Vec<Halves> exponents_of_halves(hn::Vec<Words> words, int least, int bias) {
  constexpr int mantissa = type == Element::bf16 ? 7 : 10;
  constexpr int bias_of_type = type == Element::bf16 ? 127 : 15;
  constexpr std::int16_t infinity = 0x7FFF >> mantissa << mantissa;
  const auto bits = hn::And(hn::BitCast(dh, words), hn::Set(dh, 0x7FFF));
  const auto biased = hn::Max(hn::ShiftRight<mantissa>(bits),
                              hn::Set(dh, static_cast<std::int16_t>(least + bias_of_type)));
  const auto placed = hn::ShiftLeft<exponent_shift>(
      hn::Add(biased, hn::Set(dh, static_cast<std::int16_t>(bias - bias_of_type))));
  const auto is_finite = hn::Lt(bits, hn::Set(dh, infinity));
  const auto finite = hn::IfThenElse(is_finite, placed, hn::Set(dh, infinity_exponent));
  return hn::IfThenElse(hn::Eq(bits, hn::Zero(dh)), hn::Set(dh, zero_exponent), finite);
}

/// The value of the element in the lower half of each word.
template <Element type>
HWY_INLINE V value_of_half(hn::Vec<Words> words) {
  if constexpr (type == Element::bf16) return hn::BitCast(d, hn::ShiftLeft<16>(words));
  const hn::Rebind<std::uint16_t, Lanes> d_short;
  const hn::Rebind<hwy::float16_t, Lanes> d_half;
  return hn::PromoteTo(d, hn::BitCast(d_half, hn::TruncateTo(d_short, words)));
}

HWY_INLINE hn::Vec<Words> signs_to_flip(const PackedMatrix& from) {
  return hn::Set(dw, from.negated ? 0x80008000u : 0u);
}

template <Element type>
void set_rows_of_halves(const PackedMatrix& from, ProductRows& to) {
  const auto flip = signs_to_flip(from);
  for (std::size_t pair = 0; pair < static_cast<std::size_t>(from.k / 2); ++pair) {
    for (int row = 0; row < product_rows; row += lanes) {
      const auto* const at = from.words + pair * product_rows + row;
      const auto words = hn::Xor(hn::LoadU(dw, at), flip);
      hn::Store(value_of_half<type>(words), d, to.values[2 * pair].data() + row);
      hn::Store(value_of_half<type>(hn::ShiftRight<16>(words)), d,
                to.values[2 * pair + 1].data() + row);
      hn::Store(exponents_of_halves<type>(words, from.min_exponent, 0), dh,
                to.exponents[pair].data() + 2 * row);
    }
  }
}

template <Element type>
void set_columns_of_halves(const PackedMatrix& from, int columns, const ProductColumns& to) {
  const hn::Rebind<std::uint16_t, Lanes> d_short;
  const auto flip = signs_to_flip(from);
  for (int i = 0; i < columns * from.k; i += 2 * lanes) {
    const auto words = hn::Xor(hn::LoadU(dw, from.words + i / 2), flip);
    const auto halves = hn::BitCast(hn::Repartition<std::uint16_t, Lanes>(), words);
    const auto low = hn::PromoteTo(dw, hn::LowerHalf(d_short, halves));
    const auto high = hn::PromoteTo(dw, hn::UpperHalf(d_short, halves));
    hn::StoreU(value_of_half<type>(low), d, to.values + i);
    hn::StoreU(value_of_half<type>(high), d, to.values + i + lanes);
    hn::StoreU(exponents_of_halves<type>(words, from.min_exponent, 127), dh, to.exponents + i);
  }
}
#endif

/// to[column * k + step] = from[step * columns + column], in tiles of 8 x 8 16-bit elements.
void transpose_columns(const std::uint32_t* words, int columns, int k, std::uint32_t* transposed) {
  const auto* const from = reinterpret_cast<const std::byte*>(words);
  auto* const to = reinterpret_cast<std::byte*>(transposed);
  constexpr int size = square_size, bytes = 2;
  for (int column = 0; column < columns; column += size) {
    for (int step = 0; step < k; step += size) {
      Square turned;
      transpose_square([&](int i) { return from + ((step + i) * columns + column) * bytes; },
                       turned);
      for (int i = 0; i < size; ++i) {
        std::memcpy(to + ((column + i) * k + step) * bytes, turned[i], sizeof turned[i]);
      }
    }
  }
}

/// Calls f.template operator()<type>() for a run-time element type.
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

constexpr bool is_of_16_bits(Element type) {
  return HWY_TARGET != HWY_SCALAR && element_bits(type) == 16;
}

void set_rows(const PackedMatrix& from, ProductRows& to) {
  for_type(from.type, [&]<Element type>() {
    if constexpr (is_of_16_bits(type)) {
      if (!from.transposed) return set_rows_of_halves<type>(from, to);
    }
    set_rows_of<type>(from, to);
    set_row_exponents(from, to);
  });
}

void set_columns(const PackedMatrix& matrix, int columns, const ProductColumns& to) {
  PackedMatrix from = matrix;
  alignas(64) std::uint32_t words[max_product_columns * max_words];
  if (from.transposed) {
    transpose_columns(from.words, columns, from.k, words);
    from.words = words;
  }
  for_type(from.type, [&]<Element type>() {
    if constexpr (is_of_16_bits(type)) return set_columns_of_halves<type>(from, columns, to);
    set_columns_of<type>(from, columns, to);
    set_column_exponents(from, columns, to);
  });
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
