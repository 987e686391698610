#pragma once
// Products of matrices whose sums are those of tensor cores (tensor_core_sums.hpp), 16 rows of A
// at a time in SIMD code.
//
// A term below 2^31 units, the units being the last bits that are kept, is cut to an integer by a
// conversion from f32, or by the rounding of an FMA in f64 (fma_sums-inl.hpp). Columns of sums that this does not fit are computed in f64, as the rule is
// written: those with infinities, NaN, or exponents near the ends of f32's range.

#include <array>
#include <cstdint>

#include "vgpu/engine/matrix/tensor_core_sums.hpp"
#include "vgpu/model/matrix_form.hpp"

namespace rung::vgpu {

inline constexpr int product_rows = 16;
inline constexpr int most_words = 8;  // of a row of A, or a column of B
inline constexpr int most_product_columns = 256;

inline constexpr int steps_of_signs = 16;  // in a word
inline constexpr int steps_of_sign_byte = 4;

/// A: 16 rows, [step][row]. Steps are in the order in which they are summed.
struct ProductRows {
  alignas(64) std::array<std::array<float, product_rows>, most_steps> values;
  /// Of two steps side by side, [step / 2][row][step % 2].
  alignas(64) std::array<std::array<std::int16_t, 2 * product_rows>, most_steps / 2> exponents;
  // Only where sums are those of FMAs (fma_sums-inl.hpp).
  alignas(64) std::array<std::array<double, product_rows>, most_steps> wide;
  /// Of negative elements, [step / 16][row]: four steps in the lower half of each byte.
  alignas(
      64) std::array<std::array<std::uint32_t, product_rows>, most_steps / steps_of_signs> signs;
};

/// B: columns, [column * k + step], at multiples of 64 bytes.
struct ProductColumns {
  float* values;
  std::int16_t* exponents;
  double* wide;         // as in ProductRows
  std::uint8_t* signs;  // [(column * k + step) / 4]
};

template <int columns>
struct ColumnStorage {
  alignas(64) std::array<float, columns * most_steps> values;
  alignas(64) std::array<std::int16_t, columns * most_steps> exponents;
  alignas(64) std::array<double, columns * most_steps> wide;
  alignas(64) std::array<std::uint8_t, columns * most_steps / steps_of_sign_byte> signs;

  ProductColumns elements() { return {values.data(), exponents.data(), wide.data(), signs.data()}; }
};

/// Some of B's columns. (Small structures are passed by reference here: a copy is made of wider words
/// than the parts that were just stored, for which the CPU waits until all stores are done.)
struct ColumnRange {
  const ProductColumns& of;
  int first, count;
};

/// [column][row]
using ProductSums = std::array<float, product_rows>;

/// A matrix as its elements are packed in words: of A [word of a row][row], of B [column][word of a
/// column]. Transposed, elements of 16 bits follow each other along the rows of A or the columns of
/// B: [step][row] or [step][column].
struct PackedMatrix {
  MatrixElement type;
  bool negated, transposed;
  int k;
  int min_exponent;  // SumRule's
  bool by_halves;    // SumRule's
  const std::uint32_t* words;
};

inline constexpr int fragment_steps = 16;
inline constexpr int row_blocks = 4;

/// A tile of A of 16-bit floats, as fragment_sums-inl.hpp multiplies it.
struct FragmentRows {
  /// [pair of steps][block of rows][row][step], and what a vector that begins at an odd step reads.
  alignas(64) std::array<double, fragment_steps / 2 * row_blocks * 8 + 1> wide;
  /// [step][half of the blocks][row][column], each word with its blocks' bytes twice.
  alignas(64) std::array<std::array<std::array<std::uint8_t, 64>, 2>, fragment_steps> places;
  /// [block][row][column]: of negative elements, four steps in the lower half of each byte.
  alignas(64) std::array<std::array<std::uint32_t, 16>, row_blocks> signs;
  int largest;  // biased as in f32; 0 where the tile is not to be summed here
};

/// A tile of B, likewise.
struct FragmentColumns {
  /// [step][column], columns in the order 0, 2, 4, 6, 1, 3, 5, 7.
  alignas(64) std::array<std::array<double, 8>, fragment_steps> wide;
  /// [step][pair of columns][even, odd, even, odd]
  alignas(64) std::array<std::array<std::uint8_t, 16>, fragment_steps> places;
  /// [odd][pair of columns]
  alignas(32) std::array<std::array<std::uint32_t, 4>, 2> signs;
  int largest;
};

/// The functions for an instruction set.
struct TensorProducts {
  void (*set_rows)(const PackedMatrix& from, ProductRows& to);
  void (*set_columns)(const PackedMatrix& from, int columns, const ProductColumns& to);
  /// sums += A B, as tensor cores sum floats.
  void (*add_floats)(const SumRule& rule, int k, const ProductRows& a, const ColumnRange& b,
                     ProductSums* sums);
  /// The same for integers that f32 has exactly, and sums that it has exactly.
  void (*add_integers)(int k, const ProductRows& a, const ColumnRange& b, ProductSums* sums);

  // Of tiles of 16-bit floats, 16 x 16 and 16 x 8, in a warp's registers. Null where add_floats() has to do.
  /// From four registers: of rows 0 to 7 and 8 to 15, then of the steps from 8 on.
  void (*set_fragment_rows)(MatrixElement type, const std::uint32_t* const* registers,
                            FragmentRows& to);
  /// From two registers: of steps 0 to 7 and 8 to 15.
  void (*set_fragment_columns)(MatrixElement type, const std::uint32_t* const* registers,
                               FragmentColumns& to);
  /// D = A B + C of f32, in four registers: of even and odd columns of rows 0 to 7, then of 8 to 15. Returns
  /// false, with D as it was, where a sum is left to add_floats().
  bool (*add_fragments)(const FragmentRows& a, const FragmentColumns& b, const float* const* c,
                        float* const* d);
};

/// For the best instruction set of this CPU.
const TensorProducts& tensor_products();

}  // namespace rung::vgpu
