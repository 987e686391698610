#pragma once
// The register-tiled kernels and the packing loops that the upper CPU gemm rungs share, one set for
// each instruction set. gemm/cpu/05_micro_kernel explains the idea on its simplest form.

#include <cstdint>

namespace rung::cpu {

/// C (rows x cols) = alpha * A (rows x k) * B (k x cols) + beta * C. rows and the width of B, 1 or
/// 2 vectors, are fixed by the function that is called; B must be readable over its full width,
/// while of C only `cols` columns are touched. With beta == 0, C is not read.
template <class T>
struct Tile {
  std::int64_t k;
  const T* a;
  std::int64_t a_stride;  // packed A: from one k to the next; direct A: from one row to the next
  const T* b;
  std::int64_t b_stride;  // from one k to the next
  T alpha;
  T beta;
  T* c;
  std::int64_t ldc;
  std::int64_t cols;
  std::int64_t b_ahead = 0;  // elements from what is read of B to what is worth fetching by then
};

template <class T>
using TileFunction = void (*)(const Tile<T>& tile);

template <class T>
struct MicroKernels {
  static constexpr int max_rows = 14;

  std::int64_t MR;     // rows of the largest tile
  std::int64_t lanes;  // elements of a vector
  std::int64_t NR;     // columns of the largest tile: two vectors

  // [rows - 1][vectors - 1]
  TileFunction<T> packed_a[max_rows][2];  // A is k-major: a[k * a_stride + row]
  TileFunction<T> direct_a[max_rows][2];  // A is row-major: a[row * a_stride + k]

  /// panel[k * width + c] = matrix[k * stride + c] for c < valid, else 0: rows are contiguous.
  void (*pack_rows)(std::int64_t k, const T* matrix, std::int64_t stride, std::int64_t valid,
                    std::int64_t width, T* panel);
  /// panel[k * width + c] = matrix[c * stride + k] for c < valid, else 0: columns are contiguous.
  void (*pack_columns)(std::int64_t k, const T* matrix, std::int64_t stride, std::int64_t valid,
                       std::int64_t width, T* panel);

  /// The function for a tile of `rows` (1 to MR) by `cols` (1 to NR).
  TileFunction<T> packed_tile(std::int64_t rows, std::int64_t cols) const {
    return packed_a[rows - 1][cols > lanes];
  }
  TileFunction<T> direct_tile(std::int64_t rows, std::int64_t cols) const {
    return direct_a[rows - 1][cols > lanes];
  }
};

/// The set of this machine. T is float, double or std::uint32_t.
template <class T>
const MicroKernels<T>& micro_kernels();

}  // namespace rung::cpu
