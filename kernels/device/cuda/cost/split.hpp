#pragma once
// Time models of gemm/cuda/split_f16 and split_f16_mma (f32 by products of halves), split_bf16 (bf16 by f32) and
// residues (f64 by residues), each with the passes that write its operands, against the kernels that multiply the
// elements as they are.
// The constants are those of an H200 (docs/notes/cuda-kernels.md), and of an A100 from its data sheet.

#include <algorithm>
#include <cmath>

#include "core/integers.hpp"
#include "device/cuda/cost/gemm_shape.hpp"

namespace rung {

/// The most parts into which gemm/cuda/split_bf16 cuts k if its tiles leave SMs idle.
inline int splits_of_parts(std::int64_t k) {
  constexpr std::int64_t least_steps = 512, most = 16;
  return static_cast<int>(std::clamp<std::int64_t>(k / least_steps, 1, most));
}

namespace split_cost {

inline constexpr std::int64_t tile =
    128;  // of split_f16, split_f16_mma and split_bf16; a block has an SM to itself
inline constexpr double adding_up = 4e-6;  // adding the sums of blocks that share a tile

/// Times in seconds.
struct Machine {
  double multiprocessors;
  double step;  // of k, for a tile: three products
  // A pass reads the elements twice, the second time from L2 if they fit, and writes as many bytes. Across k,
  // few blocks share the columns of an operand. Each waits for its rows of 32 columns (of 16 in halves),
  // eight loads at a time in each thread.
  double element, pass_by_rows, row_across_k, row_of_halves_across_k;
  // gemm/cuda/fma_tiles cuts k, so no SM is idle.
  double first_tile, multiply_add;
};

inline constexpr Machine h200 = {132, 17.3e-9, 3.4e-12, 6.5e-6, 12.5e-9, 5e-9, 8.5e-6, 1 / 25.5e12};
// From its data sheet, with 60 % of the rate of tensor cores, and 90 % of those of FMAs and memory.
inline constexpr Machine a100 = {108, 57e-9, 8.6e-12, 6.5e-6, 16e-9, 8e-9, 12e-6, 1 / 8.8e12};

inline double elements_of(std::int64_t extent, const CudaGemmShape& shape) {
  return static_cast<double>(extent) * static_cast<double>(shape.k);
}

/// Seconds of the pass that writes one operand in parts.
inline double pass(const Machine& machine, std::int64_t extent, const CudaGemmShape& shape,
                   bool is_k_major) {
  const double across_k = machine.row_across_k * static_cast<double>(shape.k);
  return (is_k_major ? machine.pass_by_rows : across_k) +
         machine.element * elements_of(extent, shape);
}

/// Seconds of the pass that writes both operands in halves, in one launch: columns of both operands are split
/// at the same time, and at the same time as rows of the other.
inline double pass_of_both(const Machine& machine, const CudaGemmShape& shape) {
  constexpr double columns_alone = 3e-6;
  const int by_rows = (shape.a == Order::row_major) + (shape.b == Order::col_major);
  const double across_k = machine.row_of_halves_across_k * static_cast<double>(shape.k);
  return machine.pass_by_rows * by_rows + (by_rows < 2 ? across_k : 0) +
         (by_rows == 0 ? columns_alone : 0) +
         machine.element * elements_of(shape.m + shape.n, shape);
}

inline double tiles_of(const CudaGemmShape& shape, std::int64_t rows = tile) {
  return static_cast<double>(ceil_div(shape.m, rows) * ceil_div(shape.n, tile));
}

/// Blocks compute whole tiles while all SMs have one. They share the steps of the last tiles, then add up their
/// sums.
inline double cut_tiles_seconds(const Machine& machine, const CudaGemmShape& shape) {
  const double waves = std::floor(tiles_of(shape) / machine.multiprocessors);
  const double left = tiles_of(shape) - waves * machine.multiprocessors;
  const double splits = std::min(static_cast<double>(splits_of_parts(shape.k)),
                                 std::floor(machine.multiprocessors / std::max(left, 1.0)));
  const double last = left == 0 ? 0 : 1 / splits;
  return (waves + last) * machine.step * static_cast<double>(shape.k) + (last < 1 ? adding_up : 0);
}

/// Whole tiles of `rows` rows. share_of_step: the time of a step relative to a tile of 128 rows.
inline double whole_tiles_seconds(const Machine& machine, const CudaGemmShape& shape,
                                  std::int64_t rows = tile, double share_of_step = 1) {
  const double waves = std::ceil(tiles_of(shape, rows) / machine.multiprocessors);
  return waves * machine.step * share_of_step * static_cast<double>(shape.k);
}

/// gemm/cuda/split_f16_mma has whole tiles of 128 rows, gemm/cuda/split_f16 also has those of 64, and cuts tiles.
inline double split_seconds(const Machine& machine, const CudaGemmShape& shape) {
  double product = whole_tiles_seconds(machine, shape);
  if (shape.arch >= 90) {
    product = std::min({product, whole_tiles_seconds(machine, shape, 64, 0.65),
                        cut_tiles_seconds(machine, shape)});
  }
  return pass_of_both(machine, shape) + product;
}

inline double plain_seconds(const Machine& machine, const CudaGemmShape& shape) {
  return machine.first_tile +
         elements_of(shape.m, shape) * static_cast<double>(shape.n) * machine.multiply_add;
}

inline double parts_seconds(const Machine& machine, const CudaGemmShape& shape, bool a_is_narrow) {
  const double of_parts = a_is_narrow ? pass(machine, shape.n, shape, shape.b == Order::col_major)
                                      : pass(machine, shape.m, shape, shape.a == Order::row_major);
  return of_parts + cut_tiles_seconds(machine, shape);
}

inline double widening_seconds(const Machine& machine, const CudaGemmShape& shape,
                               bool a_is_narrow) {
  const std::int64_t extent = a_is_narrow ? shape.m : shape.n;
  return machine.pass_by_rows / 2 + machine.element / 2 * elements_of(extent, shape);
}

}  // namespace split_cost

/// True if gemm/cuda/split_bf16, with the pass that writes the f32 operand in parts, is expected to take less time than
/// gemm/cuda/fma_tiles with a pass that widens the other operand. For sm_90.
inline bool parts_pay(const CudaGemmShape& shape, bool a_is_narrow) {
  using namespace split_cost;
  return parts_seconds(h200, shape, a_is_narrow) <
         widening_seconds(h200, shape, a_is_narrow) + plain_seconds(h200, shape);
}

/// True if gemm/cuda/residues, with the passes that write A and B as residues, is expected to take less time than
/// gemm/cuda/mma_f64_warp_specialized, by a margin. For sm_90. Tiles of 128x256 are whole. Each takes its products,
/// then its recovery, while tensor cores idle.
inline bool residues_pay(const CudaGemmShape& shape) {
  using namespace split_cost;
  constexpr std::int64_t columns = 256;
  constexpr double begin = 40e-6, element = 7.7e-12, recovery = 108e-6, step = 67e-9;
  constexpr double flops_of_plain = 59e12, margin = 1.05;
  const auto tiles = static_cast<double>(ceil_div(shape.m, tile) * ceil_div(shape.n, columns));
  const double waves = std::ceil(tiles / h200.multiprocessors);
  const double residues = begin + element * elements_of(shape.m + shape.n, shape) +
                          waves * (recovery + step * static_cast<double>(shape.k));
  const double plain =
      2 * elements_of(shape.m, shape) * static_cast<double>(shape.n) / flops_of_plain;
  return margin * residues < plain;
}

/// True if gemm/cuda/split_f16, or split_f16_mma below sm_90, with the pass that splits A and B, is expected to take
/// less time than gemm/cuda/fma_tiles, by a margin.
inline bool splitting_pays(const CudaGemmShape& shape) {
  using namespace split_cost;
  const Machine& machine = shape.arch < 90 ? a100 : h200;
  constexpr double margin = 1.07;  // most errors of the model are smaller
  return margin * split_seconds(machine, shape) < plain_seconds(machine, shape);
}

}  // namespace rung
