// Costs of gemm/cpu/06, 07, 08 and 12: tiles of many rows, whose operands are packed, or read in place.

#include <algorithm>
#include <cstdint>

#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/panels.hpp"
#include "library/cost_constants.hpp"
#include "library/cost_model.hpp"

namespace rung {
namespace {

using namespace cost;

constexpr double in_time_tile = 90, unrolled_tile = 120, in_time_call = 200;
constexpr double direct_tile = 110, direct_call = 400;
constexpr double packed_step = 12;  // of a last strip that is no whole vectors, by 07
constexpr double blocks_tile = 90, blocks_call = 1200;
constexpr double large_tile_fma = 1.015;  // 28 sums a tile, and fetching what comes next
constexpr double few_rows_fma_f32 = 1.06, few_rows_fma_f64 = 1.13;  // 12 sums
constexpr double unrolled_fma_f32 = 1.03, unrolled_fma_f64 = 1.08;  // the same, by 12
constexpr double few_rows_by_strips = 1.3;  // 07 hands strips of few rows to threads one by one
constexpr double fma_latency = 4;
// Per element, or per byte.
constexpr double packing = 0.3;       // with writing it to L3 and reading it again
constexpr double repacking = 1.5;     // a B by columns, beyond that; of two FMAs in a cycle
constexpr double far_packing = 0.35;  // per byte of operands beyond L2, beyond that; the same
constexpr double beyond_l2 = 1.2;     // 07 reads operands again from L3
constexpr double copying_far = 0.05;  // per byte of a B from beyond L2, with a copy, by 12
constexpr double step_of_strip = 4, copied_step_of_strip = 10;  // of 12, of two FMAs in a cycle
constexpr double unrolled_copied_step = 5;                      // the latter, with few registers
constexpr double streamed_a = 0.03;  // from beyond L2 for each strip of B, of two FMAs in a cycle
constexpr double packed_a = 1;       // per element, panel by panel; of two FMAs in a cycle
constexpr double strided_a = 0.4;    // the same per element, along columns of A
constexpr double packed_columns = 0.8;      // per element, along columns, into panels of one vector
constexpr double written_in_tiles = 0.165;  // per byte of a C beyond L2, by 07
// Each byte of C, whose blocks move between cores, as 11's parts do not; with few registers.
constexpr double moved_by_few_rows = 0.25;

}  // namespace

double GemmCosts::moving_c(int threads) const {
  return threads > 1 && rates_.has_few_registers ? moved_by_few_rows * m_ * n_ * size_ : 0;
}

/// What an FMA of a tile of 06 takes, which has as many sums as registers hold. With few, also of 07;
/// 11 has fewer loads for an FMA, in a loop over tiles.
double GemmCosts::of_large_tile() const {
  if (!rates_.has_few_registers) return large_tile_fma;
  return size_ == 8 ? few_rows_fma_f64 : few_rows_fma_f32;
}

/// The same of 12.
double GemmCosts::of_tile_in_time() const {
  if (!rates_.has_few_registers) return large_tile_fma;
  return size_ == 8 ? unrolled_fma_f64 : unrolled_fma_f32;
}

/// The first tile of a strip waits for B, and writes the copy that others read.
double GemmCosts::copying_b() const {
  if (rates_.fmas_per_cycle == 1) return 0;
  const bool is_one_tile = m_ <= tile_rows;
  const double copied = rates_.has_few_registers ? unrolled_copied_step : copied_step_of_strip;
  const double copy = ceil_of(n_ / (2 * lanes_)) * k_ * (is_one_tile ? step_of_strip : copied);
  const double bytes = k_ * n_ * size_;
  if (m_ > 2 * tile_rows || bytes <= rates_.l2) return copy;
  return copy + bytes * (is_one_tile ? passing_far : copying_far);
}

/// By 12, where rows of A share sets of L1 and several strips of B use them, in tiles of many rows. 06
/// takes twice as long.
double GemmCosts::packing_a() const {
  const bool is_packed = rates_.fmas_per_cycle > 1 && a_by_rows_ && m_ > cpu::l1_ways &&
                         n_ > 2 * lanes_ &&
                         cpu::shares_a_set<char>(static_cast<std::int64_t>(k_ * size_));
  return is_packed ? packed_a * m_ * k_ : 0;
}

/// Once for each `columns` of B.
double GemmCosts::reading_a_in_place(double columns) const {
  if (rates_.fmas_per_cycle == 1 || m_ * k_ * size_ <= rates_.l2) return 0;
  return ceil_of(n_ / columns) * m_ * k_ * size_ * (a_by_rows_ ? streamed_a : strided_a);
}

/// Once for each `columns` of B, in place or with packing it.
double GemmCosts::reading_a_just_in_time(double columns) const {
  const bool has_wide_strips = rates_.fmas_per_cycle > 1 && m_ >= cpu::least_rows_of_wide_strips &&
                               k_ * size_ >= cpu::least_k_bytes_of_wide_strips;
  if (!has_wide_strips) return packing_a() + reading_a_in_place(columns);
  constexpr double narrow_lanes = 8;
  if (a_by_rows_ || lanes_ != narrow_lanes) return reading_a_in_place(columns);
  return ceil_of(n_ / columns) * m_ * k_ * packed_columns;
}

double GemmCosts::packing_both() const {
  const double bytes = (m_ * k_ + k_ * n_) * size_;
  double cost = packing * bytes / 4;
  if (rates_.fmas_per_cycle == 1) return cost;
  if (!b_by_rows_) cost += repacking * k_ * n_;
  return bytes > rates_.l2 ? cost + far_packing * bytes : cost;
}

double GemmCosts::cache_blocks(int threads) const {
  const double tasks = ceil_of(tiles_ / 8);
  const int used = tasks < threads ? static_cast<int>(tasks) : threads;
  const double cost = of_large_tile() * whole_fmas_ + tiles_ * blocks_tile + packing_both() +
                      2 * packing_a() + writing(written_in_blocks) + moving_c(used);
  return shared(std::max(cost, from_memory(strided_read)), tasks, threads) + blocks_call;
}

double GemmCosts::direct(int threads) const {
  const double transposed = b_by_rows_ ? 0 : 4 * transposing * k_ * n_;
  // Few sums wait for their last FMA.
  const double sums = std::min(m_, tile_rows) * std::min(ceil_of(n_ / lanes_), 2.0);
  const double of_fma = rates_.has_few_registers ? of_large_tile() : 1;
  const double fmas = whole_fmas_ * std::max(of_fma, fma_latency * rates_.fmas_per_cycle / sums);
  const double packed = n_ / lanes_ == ceil_of(n_ / lanes_) ? 0 : packed_step * k_;
  double cost = splitting_lines() * std::max(fmas, reading_b_in_place(vector_from_l2)) +
                tiles_ * direct_tile + transposed + packed + reading_a_in_place(2 * lanes_) +
                writing(written_in_tiles);
  if ((m_ * k_ + k_ * n_) * size_ > rates_.l2) {
    cost += (beyond_l2 - 1) * whole_fmas_ * rates_.fmas_per_cycle;
  }
  if (passes_b(threads)) {
    cost = std::max(cost, (threads > 1 ? few_rows_by_strips : 1) * passing_b(threads));
  }
  const bool streams = m_ <= 4 * tile_rows && b_by_rows_;
  cost = std::max(cost, from_memory(streams ? blocked_read : strided_read));
  return shared(cost, ceil_of(n_ / (2 * lanes_)), threads) + direct_call;
}

double GemmCosts::split_k(int threads) const {
  const double parts = ceil_of(k_ / 1024 - 1);
  if (parts < 2 || threads == 1) return infinite;
  const double sums = parts * m_ * n_ / 2;
  return shared(direct(1) + sums, parts, threads) + direct_call;
}

double GemmCosts::just_in_time(int threads) const {
  const double transposed = b_by_rows_ ? 0 : transposing * k_ * n_;
  // A last strip of a vector and a half is computed as one of two.
  const bool ends_in_pair = static_cast<std::int64_t>(ceil_of(n_ / lanes_)) % 2 == 0;
  const double fmas = of_tile_in_time() * std::max(fmas_, ends_in_pair ? whole_fmas_ : 0);
  const double of_tile = rates_.has_few_registers ? unrolled_tile : in_time_tile;
  constexpr double panel_column = 2048;  // bytes of a column in a panel of B
  const double columns_in_l2 = rates_.l2 / 2 / panel_column;
  const double cost =
      std::max(fmas + tiles_ * of_tile + transposed + copying_b() +
                   reading_a_just_in_time(columns_in_l2) + writing(written_in_blocks),
               from_memory(std::min(m_, n_) <= 2 * tile_rows ? strided_read : streamed_read));
  const double used = std::min(tiles_, static_cast<double>(threads));
  if (used <= 1) return cost + in_time_call;
  const double of_busiest = ceil_of(tiles_ / used) / tiles_;  // as cpu::balanced_block() divides it
  return (cost + moving_c(threads)) * of_busiest + rates_.handover + in_time_call;
}

}  // namespace rung
