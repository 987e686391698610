#include "library/cuda/split_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/integers.hpp"

namespace rung {
namespace {

constexpr std::int64_t tile = 128;  // of gemm/cuda/32, 34 and 35; a block has an SM to itself

/// Times in seconds.
struct Machine {
  double multiprocessors;
  double step;  // of k, for a tile: three products
  // A pass reads the elements twice, the second time from L2 if they fit, and writes as many bytes.
  // Few blocks share the columns of an operand across k, and each waits for its rows, eight loads at
  // a time in each of its warps.
  double element, pass_by_rows, row_across_k;
  // gemm/cuda/11 cuts k, so no SM is idle.
  double first_tile, multiply_add;
};

constexpr Machine h200 = {132, 17.3e-9, 3.4e-12, 6.5e-6, 12.5e-9, 8.5e-6, 1 / 25.5e12};
// From its data sheet, with 60 % of the rate of tensor cores, and 90 % of those of FMAs and memory.
constexpr Machine a100 = {108, 57e-9, 8.6e-12, 6.5e-6, 16e-9, 12e-6, 1 / 8.8e12};

double pass(const Machine& machine, std::int64_t extent, std::int64_t k, bool is_k_major) {
  const auto steps = static_cast<double>(k);
  const double begin = is_k_major ? machine.pass_by_rows : machine.row_across_k * steps;
  return begin + machine.element * static_cast<double>(extent) * steps;
}

double tiles_of(const CudaGemmShape& shape) {
  return static_cast<double>(ceil_div(shape.m, tile) * ceil_div(shape.n, tile));
}

double split_seconds(const Machine& machine, const CudaGemmShape& shape) {
  const double waves = std::ceil(tiles_of(shape) / machine.multiprocessors);
  return pass(machine, shape.m, shape.k, shape.a == Order::row_major) +
         pass(machine, shape.n, shape.k, shape.b == Order::col_major) +
         waves * machine.step * static_cast<double>(shape.k);
}

double plain_seconds(const Machine& machine, const CudaGemmShape& shape) {
  const double multiply_adds =
      static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  return machine.first_tile + multiply_adds * machine.multiply_add;
}

/// Blocks compute whole tiles as long as all SMs have one. They share the steps of the last ones, and
/// then add up their sums.
double parts_seconds(const Machine& machine, const CudaGemmShape& shape, bool a_is_narrow) {
  constexpr double adding_up = 4e-6;
  const double waves = std::floor(tiles_of(shape) / machine.multiprocessors);
  const double left = tiles_of(shape) - waves * machine.multiprocessors;
  const double splits = std::min(static_cast<double>(splits_of_parts(shape.k)),
                                 std::floor(machine.multiprocessors / std::max(left, 1.0)));
  const double last = left == 0 ? 0 : 1 / splits;
  const double of_parts = a_is_narrow
                              ? pass(machine, shape.n, shape.k, shape.b == Order::col_major)
                              : pass(machine, shape.m, shape.k, shape.a == Order::row_major);
  return of_parts + (waves + last) * machine.step * static_cast<double>(shape.k) +
         (last < 1 ? adding_up : 0);
}

double widening_seconds(const Machine& machine, const CudaGemmShape& shape, bool a_is_narrow) {
  const std::int64_t extent = a_is_narrow ? shape.m : shape.n;
  const double elements = static_cast<double>(extent) * static_cast<double>(shape.k);
  return machine.pass_by_rows / 2 + machine.element / 2 * elements;
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
  return split_seconds(machine, shape) < plain_seconds(machine, shape);
}

}  // namespace rung
