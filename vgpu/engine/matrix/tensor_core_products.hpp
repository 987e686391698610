#pragma once
// Matrix products with the rounding of tensor cores (tensor_core_sums.hpp), 16 rows of A at a time
// in SIMD code.
//
// The unit of a sum is the last bit that it keeps. Terms below 2^31 units are truncated to integers
// by a conversion from f32, or by the rounding of an FMA in f64 (fma_sums-inl.hpp). Columns for
// which that is not exact, with infinities, NaN, or exponents near the limits of f32, are computed
// in f64, exactly as the rule defines them.

#include <array>
#include <cstdint>

#include "vgpu/engine/matrix/tensor_core_sums.hpp"
#include "vgpu/model/matrix_form.hpp"

namespace rung::vgpu {

inline constexpr int product_rows = 16;
inline constexpr int max_words = 8;  // per row of A or column of B
inline constexpr int max_product_columns = 256;

inline constexpr int steps_of_signs = 16;  // per word
inline constexpr int steps_of_sign_byte = 4;

/// 16 rows of A, as [step][row]. Steps are in the order of summation.
struct ProductRows {
  alignas(64) std::array<std::array<float, product_rows>, max_steps> values;
  /// Two steps side by side: [step / 2][row][step % 2].
  alignas(64) std::array<std::array<std::int16_t, 2 * product_rows>, max_steps / 2> exponents;
  // Set only if sums use FMAs (fma_sums-inl.hpp).
  alignas(64) std::array<std::array<double, product_rows>, max_steps> wide;
  /// Signs of negative elements, [step / 16][row]: four steps in the lower half of each byte.
  alignas(64) std::array<std::array<std::uint32_t, product_rows>, max_steps / steps_of_signs> signs;
};

/// Columns of B, as [column * k + step], at multiples of 64 bytes.
struct ProductColumns {
  float* values;
  std::int16_t* exponents;
  double* wide;         // as in ProductRows
  std::uint8_t* signs;  // [(column * k + step) / 4]
};

template <int columns>
struct ColumnStorage {
  alignas(64) std::array<float, columns * max_steps> values;
  alignas(64) std::array<std::int16_t, columns * max_steps> exponents;
  alignas(64) std::array<double, columns * max_steps> wide;
  alignas(64) std::array<std::uint8_t, columns * max_steps / steps_of_sign_byte> signs;

  ProductColumns elements() { return {values.data(), exponents.data(), wide.data(), signs.data()}; }
};

/// Some columns of B. (Small structures are passed by reference here: a copy would load words wider
/// than the parts just stored, and the CPU would wait until all stores are done.)
struct ColumnRange {
  const ProductColumns& of;
  int first, count;
};

/// By [column][row].
using ProductSums = std::array<float, product_rows>;

/// A matrix as its elements are packed in words: A as [word of a row][row], B as [column][word of a
/// column]. If transposed, 16-bit elements are consecutive along the rows of A or the columns of B:
/// [step][row] or [step][column].
struct PackedMatrix {
  MatrixElement type;
  bool negated, transposed;
  int k;
  int min_exponent;  // see SumRule
  bool by_halves;    // see SumRule
  const std::uint32_t* words;
};

inline constexpr int fragment_steps = 16;
inline constexpr int row_blocks = 4;

/// A tile of A of 16-bit floats, in the layout of fragment_sums-inl.hpp.
struct FragmentRows {
  /// [pair of steps][block of rows][row][step], plus one element, because vectors may be loaded
  /// from an odd step.
  alignas(64) std::array<double, fragment_steps / 2 * row_blocks * 8 + 1> wide;
  /// [step][half of the blocks][row][column]. Each word holds the bytes of its blocks twice.
  alignas(64) std::array<std::array<std::array<std::uint8_t, 64>, 2>, fragment_steps> places;
  /// [block][row][column]. Signs of negative elements: four steps in the lower half of each byte.
  alignas(64) std::array<std::array<std::uint32_t, 16>, row_blocks> signs;
  int largest;  // biased as in f32; 0 if the tile cannot be summed in this layout
};

/// A tile of B of 16-bit floats, in the same layout.
struct FragmentColumns {
  /// [step][column], with columns in the order 0, 2, 4, 6, 1, 3, 5, 7.
  alignas(64) std::array<std::array<double, 8>, fragment_steps> wide;
  /// [step][pair of columns][even, odd, even, odd]
  alignas(64) std::array<std::array<std::uint8_t, 16>, fragment_steps> places;
  /// [odd column][pair of columns]
  alignas(32) std::array<std::array<std::uint32_t, 4>, 2> signs;
  int largest;
};

/// The functions for one instruction set.
struct TensorProducts {
  void (*set_rows)(const PackedMatrix& from, ProductRows& to);
  void (*set_columns)(const PackedMatrix& from, int columns, const ProductColumns& to);
  /// sums += A B, with the rounding of tensor cores.
  void (*add_floats)(const SumRule& rule, int k, const ProductRows& a, const ColumnRange& b,
                     ProductSums* sums);
  /// sums += A B, for integers whose values and sums are exact in f32.
  void (*add_integers)(int k, const ProductRows& a, const ColumnRange& b, ProductSums* sums);

  // For tiles of 16-bit floats, 16 x 16 and 16 x 8, in a warp's registers. Null if add_floats()
  // must be used.
  /// Reads four registers: rows 0 to 7 and 8 to 15, first steps 0 to 7, then steps 8 to 15.
  void (*set_fragment_rows)(MatrixElement type, const std::uint32_t* const* registers,
                            FragmentRows& to);
  /// Reads two registers: steps 0 to 7 and 8 to 15.
  void (*set_fragment_columns)(MatrixElement type, const std::uint32_t* const* registers,
                               FragmentColumns& to);
  /// D = A B + C in f32. C and D have four registers: even and odd columns of rows 0 to 7, then of
  /// rows 8 to 15. Returns false, with D unchanged, if a sum must be computed by add_floats().
  bool (*add_fragments)(const FragmentRows& a, const FragmentColumns& b, const float* const* c,
                        float* const* d);
};

/// The functions for the best instruction set of this CPU.
const TensorProducts& tensor_products();

}  // namespace rung::vgpu
