#include "library/tile_costs.hpp"

#include <algorithm>

#include "device/cpu/machine.hpp"
#include "library/cost_model.hpp"

namespace rung {
namespace {

double parts(std::int64_t whole, std::int64_t part) {
  return static_cast<double>((whole + part - 1) / part);
}

/// Elements of k in 32 bits.
std::int64_t group_of(const GemmShape& shape) { return shape.dtype == Dtype::i8 ? 4 : 2; }

/// At least what it takes to read B from beyond L2.
double with_reading(double cost, const GemmShape& shape, double cycles_per_byte) {
  const double bytes = static_cast<double>(shape.n) * static_cast<double>(shape.k) *
                       (shape.dtype == Dtype::i8 ? 1 : 2);
  if (bytes < static_cast<double>(cpu::machine().caches.l2)) return cost;
  return std::max(cost, bytes * cycles_per_byte);
}

}  // namespace

double cost_of_tiles(const GemmShape& shape) {
  constexpr double call = 600;       // most of it to configure the tiles
  constexpr double product = 16;     // of two tiles
  constexpr double fill = 85;        // of two tiles of B, with what the products do not hide
  constexpr double sums_to_c = 250;  // of four tiles
  const double steps = parts(shape.k, 16 * group_of(shape));
  const double strips = parts(shape.n, 32), blocks = strips * parts(shape.m, 32);
  const double products = blocks * (shape.m > 16 ? 2 : 1) * (shape.n > 16 ? 2 : 1);
  constexpr double byte = 0.15;  // by lines of many rows of B
  const double cost =
      call + strips * steps * fill + products * steps * product + blocks * sums_to_c;
  return with_reading(cost, shape, byte);
}

double cost_of_dot_products(const GemmShape& shape) {
  constexpr std::int64_t few_rows = 4, tile_rows = 14, tile_cols = 32;
  const std::int64_t group = group_of(shape);
  const double groups = parts(shape.k, group);
  const auto m = static_cast<double>(shape.m);
  if (shape.m <= few_rows && shape.b == Order::row_major) {
    constexpr double call = 50;
    // Four rows of int8 take twice as many instructions to interleave as two of bf16, for twice as
    // many columns.
    const bool bytes = shape.dtype == Dtype::i8;
    const double step = bytes ? 8 + 11 * m : 5 + 5 * m;
    constexpr double byte = 0.11;  // along rows of B
    return with_reading(call + groups * parts(shape.n, bytes ? 64 : 32) * step, shape, byte);
  }
  constexpr double call = 450;
  const double tile = shape.n % tile_cols == 0 ? 60 : 250;  // columns of C one by one
  constexpr double dot_product = 2;  // cycles, of 512 bits: CPUs with tiles have one unit for them
  const double rows = std::min(m, static_cast<double>(tile_rows));
  const double vectors = shape.n > tile_cols / 2 ? 2 : 1;
  return call + parts(shape.m, tile_rows) * parts(shape.n, tile_cols) *
                    (tile + rows * vectors * dot_product * groups);
}

std::optional<GemmChoice> choose_tiles(const GemmShape& shape, int threads) {
  if (shape.dtype != Dtype::bf16 && shape.dtype != Dtype::i8) return std::nullopt;
  if (!cpu::machine().isa.contains(cpu::Isa::amx)) return std::nullopt;
  const double cost = cost_of_tiles(shape);
  if (cost > cost_of_dot_products(shape)) return std::nullopt;
  return GemmChoice{rung_of_tiles.id, rung_of_tiles.rung, threads_worth(cost, threads)};
}

}  // namespace rung
