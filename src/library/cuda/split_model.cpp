#include "library/cuda/split_model.hpp"

#include <cmath>

#include "core/integers.hpp"

namespace rung {
namespace {

constexpr double us = 1e-6;
constexpr double multiprocessors = 132;

// gemm/cuda/32: a block has an SM to itself, and a tile of 128 x 128. A step of k is three products.
constexpr std::int64_t tile = 128;
constexpr double seconds_per_step = 17.3e-9;

// A pass reads the elements twice, the second time from L2 if they fit, and writes as many bytes. Of
// an operand across k, few blocks share the columns, and each waits for the rows, eight loads at a
// time in each of its warps.
constexpr double seconds_per_element = 3.4e-12;
constexpr double pass_by_rows = 6.5 * us;
constexpr double seconds_per_row_across_k = 12.5e-9;

// gemm/cuda/11: it cuts k, so no SM is idle.
constexpr double seconds_per_multiply_add = 1 / 25.5e12;
constexpr double first_tile = 12 * us;

double pass(std::int64_t extent, std::int64_t k, bool is_k_major) {
  const double begin =
      is_k_major ? pass_by_rows : seconds_per_row_across_k * static_cast<double>(k);
  return begin + seconds_per_element * static_cast<double>(extent) * static_cast<double>(k);
}

double split_seconds(const CudaGemmShape& shape) {
  const auto tiles = static_cast<double>(ceil_div(shape.m, tile) * ceil_div(shape.n, tile));
  const double waves = std::ceil(tiles / multiprocessors);
  return pass(shape.m, shape.k, shape.a == Order::row_major) +
         pass(shape.n, shape.k, shape.b == Order::col_major) +
         waves * seconds_per_step * static_cast<double>(shape.k);
}

double plain_seconds(const CudaGemmShape& shape) {
  const double multiply_adds =
      static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  return first_tile + multiply_adds * seconds_per_multiply_add;
}

}  // namespace

bool splitting_pays(const CudaGemmShape& shape) {
  return split_seconds(shape) < plain_seconds(shape);
}

}  // namespace rung
