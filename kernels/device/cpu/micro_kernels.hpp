#pragma once
// The micro-kernels and packing loops of the upper CPU gemm rungs, one set per instruction set.
// gemm/cpu/05_micro_kernel shows the simplest form.

#include <cstdint>

namespace rung::cpu {

/// C (rows x cols) = alpha * A (rows x k) * B (k x cols) + beta * C. The called function fixes the
/// number of rows and the width of B (1 or 2 vectors). B must be readable over that full width;
/// only `cols` columns of C are accessed. With beta == 0, C is not read. In is the unit of a
/// k-step: an element, or a group of elements (dot_kernels.hpp).
template <class In, class Acc = In>
struct Tile {
  std::int64_t k;
  const In* a;
  std::int64_t a_stride;  // packed A: between steps of k; direct A: between rows
  const In* b;
  std::int64_t b_stride;  // between steps of k
  Acc alpha;
  Acc beta;
  Acc* c;
  std::int64_t ldc;
  std::int64_t cols;
  std::int64_t b_ahead = 0;    // prefetch distance of B in elements; 0: no prefetch
  const Acc* start = nullptr;  // initial sum of each row: DotKernels::start_rows
};

template <class In, class Acc = In>
using TileFunction = void (*)(const Tile<In, Acc>& tile);

template <class T>
struct MicroKernels {
  static constexpr int max_rows = 14;

  std::int64_t MR;     // rows of the largest tile
  std::int64_t lanes;  // elements per vector
  std::int64_t NR;     // columns of the largest tile: two vectors

  // [rows - 1][vectors - 1]
  TileFunction<T> packed_a[max_rows][2];  // A is packed, k-major: a[k * a_stride + row]
  TileFunction<T> direct_a[max_rows][2];  // A is row-major: a[row * a_stride + k]

  /// panel[k * width + c] = matrix[k * stride + c] for c < valid, else 0. For contiguous rows.
  void (*pack_rows)(std::int64_t k, const T* matrix, std::int64_t stride, std::int64_t valid,
                    std::int64_t width, T* panel);
  /// panel[k * width + c] = matrix[c * stride + k] for c < valid, else 0. For contiguous columns.
  void (*pack_columns)(std::int64_t k, const T* matrix, std::int64_t stride, std::int64_t valid,
                       std::int64_t width, T* panel);

  /// The micro-kernel for a tile of `rows` (1 to MR) by `cols` (1 to NR).
  TileFunction<T> packed_tile(std::int64_t rows, std::int64_t cols) const {
    return packed_a[rows - 1][cols > lanes];
  }
  TileFunction<T> direct_tile(std::int64_t rows, std::int64_t cols) const {
    return direct_a[rows - 1][cols > lanes];
  }
};

/// The kernels for this machine. T is float, double or std::uint32_t.
template <class T>
const MicroKernels<T>& micro_kernels();

}  // namespace rung::cpu
