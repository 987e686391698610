#include "library/cuda/split_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/integers.hpp"

namespace rung {
namespace {

constexpr std::int64_t tile = 128;  // of gemm/cuda/32, 34 and 35; a block has an SM to itself
constexpr double adding_up = 4e-6;  // the sums of blocks that share a tile

/// Times in seconds.
struct Machine {
  double multiprocessors;
  double step;  // of k, for a tile: three products
  // A pass reads the elements twice, the second time from L2 if they fit, and writes as many bytes.
  // Few blocks share the columns of an operand across k, and each waits for its rows, eight loads at
  // a time in each of its threads: of 32 columns in halves across k, of 16.
  double element, pass_by_rows, row_across_k, row_of_halves_across_k;
  // gemm/cuda/11 cuts k, so no SM is idle.
  double first_tile, multiply_add;
};

constexpr Machine h200 = {132, 17.3e-9, 3.4e-12, 6.5e-6, 12.5e-9, 5e-9, 8.5e-6, 1 / 25.5e12};
// From its data sheet, with 60 % of the rate of tensor cores, and 90 % of those of FMAs and memory.
constexpr Machine a100 = {108, 57e-9, 8.6e-12, 6.5e-6, 16e-9, 8e-9, 12e-6, 1 / 8.8e12};

double elements_of(std::int64_t extent, const CudaGemmShape& shape) {
  return static_cast<double>(extent) * static_cast<double>(shape.k);
}

/// That of one operand in parts.
double pass(const Machine& machine, std::int64_t extent, const CudaGemmShape& shape,
            bool is_k_major) {
  const double across_k = machine.row_across_k * static_cast<double>(shape.k);
  return (is_k_major ? machine.pass_by_rows : across_k) +
         machine.element * elements_of(extent, shape);
}

/// That of both operands in halves, in one launch: columns of both across k are split at once, and
/// beside rows of the other.
double pass_of_both(const Machine& machine, const CudaGemmShape& shape) {
  constexpr double columns_alone = 3e-6;
  const int by_rows = (shape.a == Order::row_major) + (shape.b == Order::col_major);
  const double across_k = machine.row_of_halves_across_k * static_cast<double>(shape.k);
  return machine.pass_by_rows * by_rows + (by_rows < 2 ? across_k : 0) +
         (by_rows == 0 ? columns_alone : 0) +
         machine.element * elements_of(shape.m + shape.n, shape);
}

double tiles_of(const CudaGemmShape& shape, std::int64_t rows = tile) {
  return static_cast<double>(ceil_div(shape.m, rows) * ceil_div(shape.n, tile));
}

/// Blocks compute whole tiles as long as all SMs have one. They share the steps of the last ones, and
/// then add up their sums.
double cut_tiles_seconds(const Machine& machine, const CudaGemmShape& shape) {
  const double waves = std::floor(tiles_of(shape) / machine.multiprocessors);
  const double left = tiles_of(shape) - waves * machine.multiprocessors;
  const double splits = std::min(static_cast<double>(splits_of_parts(shape.k)),
                                 std::floor(machine.multiprocessors / std::max(left, 1.0)));
  const double last = left == 0 ? 0 : 1 / splits;
  return (waves + last) * machine.step * static_cast<double>(shape.k) + (last < 1 ? adding_up : 0);
}

/// Of whole tiles, of 128 rows or `rows`, each step of which takes so much of the time of one of 128.
double whole_tiles_seconds(const Machine& machine, const CudaGemmShape& shape,
                           std::int64_t rows = tile, double share_of_step = 1) {
  const double waves = std::ceil(tiles_of(shape, rows) / machine.multiprocessors);
  return waves * machine.step * share_of_step * static_cast<double>(shape.k);
}

/// gemm/cuda/34 has whole tiles of 128 rows, gemm/cuda/32 also has those of 64, and cuts tiles.
double split_seconds(const Machine& machine, const CudaGemmShape& shape) {
  double product = whole_tiles_seconds(machine, shape);
  if (shape.arch >= 90) {
    product = std::min({product, whole_tiles_seconds(machine, shape, 64, 0.65),
                        cut_tiles_seconds(machine, shape)});
  }
  return pass_of_both(machine, shape) + product;
}

double plain_seconds(const Machine& machine, const CudaGemmShape& shape) {
  return machine.first_tile +
         elements_of(shape.m, shape) * static_cast<double>(shape.n) * machine.multiply_add;
}

double parts_seconds(const Machine& machine, const CudaGemmShape& shape, bool a_is_narrow) {
  const double of_parts = a_is_narrow ? pass(machine, shape.n, shape, shape.b == Order::col_major)
                                      : pass(machine, shape.m, shape, shape.a == Order::row_major);
  return of_parts + cut_tiles_seconds(machine, shape);
}

double widening_seconds(const Machine& machine, const CudaGemmShape& shape, bool a_is_narrow) {
  const std::int64_t extent = a_is_narrow ? shape.m : shape.n;
  return machine.pass_by_rows / 2 + machine.element / 2 * elements_of(extent, shape);
}

}  // namespace

int splits_of_parts(std::int64_t k) {
  constexpr std::int64_t least_steps = 512, most = 16;
  return static_cast<int>(std::clamp<std::int64_t>(k / least_steps, 1, most));
}

bool parts_pay(const CudaGemmShape& shape, bool a_is_narrow) {
  return parts_seconds(h200, shape, a_is_narrow) <
         widening_seconds(h200, shape, a_is_narrow) + plain_seconds(h200, shape);
}

bool splitting_pays(const CudaGemmShape& shape) {
  const Machine& machine = shape.arch < 90 ? a100 : h200;
  constexpr double margin = 1.07;  // most errors of the model are smaller
  return margin * split_seconds(machine, shape) < plain_seconds(machine, shape);
}

}  // namespace rung
