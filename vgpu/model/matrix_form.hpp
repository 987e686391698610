#pragma once
// The operation of a warp-level matrix multiply-accumulate, D (m x n) = A (m x k) * B (k x n) + C
// (PTX ISA, 9.7.14), and the number of registers per lane for each matrix.

#include <algorithm>
#include <bit>
#include <cstdint>

namespace rung::vgpu {

/// Types of matrix elements. tf32 is an f32 whose low 13 bits are ignored.
enum class MatrixElement : std::uint8_t {
  f16,
  bf16,
  tf32,
  e4m3,
  e5m2,
  s8,
  u8,
  s4,
  u4,
  f32,
  s32,
  f64
};

constexpr int element_bits(MatrixElement element) {
  switch (element) {
    case MatrixElement::s4:
    case MatrixElement::u4: return 4;
    case MatrixElement::e4m3:
    case MatrixElement::e5m2:
    case MatrixElement::s8:
    case MatrixElement::u8: return 8;
    case MatrixElement::f16:
    case MatrixElement::bf16: return 16;
    case MatrixElement::tf32:
    case MatrixElement::f32:
    case MatrixElement::s32: return 32;
    case MatrixElement::f64: return 64;
  }
  return 0;
}

/// log2 of per_register(). Every mma needs its numbers of registers, and divisions would take as
/// long as the rest of its preparation.
constexpr int register_shift(MatrixElement element) {
  return std::max(0, 5 - std::countr_zero(static_cast<unsigned>(element_bits(element))));
}
/// Elements per register. Registers of f64 fragments have 64 bits, all others 32.
constexpr int per_register(MatrixElement element) { return 1 << register_shift(element); }

/// The rounding mode of an f64 sum, or saturation of an s32 sum (.satfinite).
enum class MatrixMode : std::uint8_t { nearest, to_zero, down, up, saturating };

/// An mma.sync or wmma.mma. Fits in an instruction's immediate. The larger shapes, which belong to
/// wmma, consist of tiles of 8 or 16 x 8, with fragments as in mma (engine/matrix/wmma_layout.hpp).
struct MatrixForm {
  std::uint8_t m, n, k;
  MatrixElement a, b, c, d;
  MatrixMode mode;

  constexpr int tile_rows() const { return std::min<int>(m, 16); }
  constexpr int row_tiles() const { return std::max(1, m >> 4); }
  constexpr int column_tiles() const { return n >> 3; }

  /// Registers per lane for one tile of A, of B, or of C and D.
  constexpr int a_registers_of_tile() const { return tile_rows() * k >> (5 + register_shift(a)); }
  constexpr int b_registers_of_tile() const { return 8 * k >> (5 + register_shift(b)); }
  constexpr int sum_registers_of_tile(MatrixElement sum) const {
    return tile_rows() * 8 >> (5 + register_shift(sum));
  }

  constexpr int a_registers() const {
    return holds_copies(a) ? wmma_f16_registers : row_tiles() * a_registers_of_tile();
  }
  constexpr int b_registers() const {
    return holds_copies(b) ? wmma_f16_registers : column_tiles() * b_registers_of_tile();
  }
  constexpr int sum_registers(MatrixElement sum) const {
    return row_tiles() * column_tiles() * sum_registers_of_tile(sum);
  }

 private:
  /// f16 fragments of wmma have eight registers in every shape: some hold an element two or four
  /// times (PTX ISA, 9.7.14.4.1).
  static constexpr int wmma_f16_registers = 8;
  constexpr bool holds_copies(MatrixElement element) const {
    return element == MatrixElement::f16 && (m == 32 || n > 8);
  }
};
static_assert(sizeof(MatrixForm) == sizeof(std::uint64_t));

}  // namespace rung::vgpu
