#pragma once
// Costs of gemm/cpu/cache_blocks, unpacked, split_k and just_in_time: tiles of many rows whose operands
// are packed or read in place.

#include <algorithm>
#include <cstdint>

#include "device/cpu/cost/terms.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/panels.hpp"
#include "device/cpu/partition.hpp"

namespace rung::cost {
namespace panels {

/// Cycles of overhead of a tile around its loop over k, and of a call. `in_time` is just_in_time, `unrolled`
/// is just_in_time with few registers, `blocks` is cache_blocks.
inline constexpr double in_time_tile = 90, unrolled_tile = 120, in_time_call = 200;
inline constexpr double unpacked_tile = 110, unpacked_call = 400;
inline constexpr double blocks_tile = 90, blocks_call = 1200;
/// Per step of k of a last strip that has a partial vector, which unpacked packs.
inline constexpr double packed_step = 12;
/// Cycles per FMA of a tile with 28 accumulators that also prefetches; with 12 accumulators; the latter
/// unrolled, in just_in_time.
inline constexpr double large_tile_fma = 1.015;
inline constexpr double few_rows_fma_f32 = 1.06, few_rows_fma_f64 = 1.13;
inline constexpr double unrolled_fma_f32 = 1.03, unrolled_fma_f64 = 1.08;
/// Factor for unpacked, which hands strips of few rows to threads one by one.
inline constexpr double few_rows_by_strips = 1.3;
inline constexpr double fma_latency = 4;
/// Per element that is packed, written to L3 and read again; more for a B by columns with two FMAs per
/// cycle; more per byte of operands beyond L2, also with two.
inline constexpr double packing = 0.3, repacking = 1.5, far_packing = 0.35;
/// Factor for operands beyond L2, which unpacked reads again from L3.
inline constexpr double beyond_l2 = 1.2;
/// Per byte of a B beyond L2 that just_in_time copies.
inline constexpr double copied_from_memory = 0.05;
/// Per step of a strip in just_in_time with two FMAs per cycle: without a copy, with one, and with one and few
/// registers.
inline constexpr double step_of_strip = 4, copied_step_of_strip = 10, unrolled_copied_step = 5;
/// Per byte of an A beyond L2 for each strip of B, by rows; per byte along columns; two FMAs per cycle.
inline constexpr double streamed_a = 0.03, strided_a = 0.4;
/// Per element of A that is packed panel by panel; along columns into panels of one vector.
inline constexpr double packed_a = 1, packed_columns = 0.8;
/// Per byte of a C beyond L2, by unpacked.
inline constexpr double written_in_tiles = 0.165;
/// Per byte of C with few registers: its blocks move between cores, unlike the parts of masked_edges.
inline constexpr double moved_by_few_rows = 0.25;

inline double moving_c(const GemmTerms& t, int threads) {
  return threads > 1 && t.rates.has_few_registers ? moved_by_few_rows * t.m * t.n * t.size : 0;
}

/// Cycles per FMA of a tile of cache_blocks, which has as many accumulators as registers hold; with few registers,
/// also of unpacked.
inline double large_tile_cycles(const GemmTerms& t) {
  if (!t.rates.has_few_registers) return large_tile_fma;
  return t.size == 8 ? few_rows_fma_f64 : few_rows_fma_f32;
}

/// Cycles per FMA of a tile of just_in_time.
inline double just_in_time_tile_cycles(const GemmTerms& t) {
  if (!t.rates.has_few_registers) return large_tile_fma;
  return t.size == 8 ? unrolled_fma_f64 : unrolled_fma_f32;
}

/// The first tile of a strip waits for B and writes the copy that the others read.
inline double copied_strip_cycles(const GemmTerms& t) {
  if (t.rates.fmas_per_cycle == 1) return 0;
  const bool is_one_tile = t.m <= tile_rows;
  const double copied = t.rates.has_few_registers ? unrolled_copied_step : copied_step_of_strip;
  const double copy = ceil_of(t.n / (2 * t.lanes)) * t.k * (is_one_tile ? step_of_strip : copied);
  const double bytes = t.b_bytes();
  if (t.m > 2 * tile_rows || bytes <= t.rates.l2) return copy;
  return copy + bytes * (is_one_tile ? streamed_from_memory : copied_from_memory);
}

/// Packing A in 12: rows of A share sets of L1, and several strips of B use them in tiles of many rows. 06
/// takes twice as long.
inline double packing_a(const GemmTerms& t) {
  const bool is_packed = t.rates.fmas_per_cycle > 1 && t.a_by_rows && t.m > cpu::l1_ways &&
                         t.n > 2 * t.lanes &&
                         cpu::shares_a_set<char>(static_cast<std::int64_t>(t.k * t.size));
  return is_packed ? packed_a * t.m * t.k : 0;
}

/// Reading A once for each `columns` columns of B.
inline double reading_a_in_place(const GemmTerms& t, double columns) {
  if (t.rates.fmas_per_cycle == 1 || t.a_bytes() <= t.rates.l2) return 0;
  return ceil_of(t.n / columns) * t.m * t.k * t.size * (t.a_by_rows ? streamed_a : strided_a);
}

/// Reading A in just_in_time once for each `columns` columns of B, in place or packed.
inline double reading_a_just_in_time(const GemmTerms& t, double columns) {
  const bool has_wide_strips = t.rates.fmas_per_cycle > 1 &&
                               t.m >= cpu::least_rows_of_wide_strips &&
                               t.k * t.size >= cpu::least_k_bytes_of_wide_strips;
  if (!has_wide_strips) return packing_a(t) + reading_a_in_place(t, columns);
  constexpr double narrow_lanes = 8;
  if (t.a_by_rows || t.lanes != narrow_lanes) return reading_a_in_place(t, columns);
  return ceil_of(t.n / columns) * t.m * t.k * packed_columns;
}

inline double packing_both(const GemmTerms& t) {
  const double bytes = (t.m * t.k + t.k * t.n) * t.size;
  double cost = packing * bytes / 4;
  if (t.rates.fmas_per_cycle == 1) return cost;
  if (!t.b_by_rows) cost += repacking * t.k * t.n;
  return bytes > t.rates.l2 ? cost + far_packing * bytes : cost;
}

}  // namespace panels

/// gemm/cpu/cache_blocks.
inline double cache_blocks(const GemmTerms& t, int threads) {
  using namespace panels;
  const double tasks = ceil_of(t.tiles / 8);
  const int used = tasks < threads ? static_cast<int>(tasks) : threads;
  const double cost = large_tile_cycles(t) * t.whole_fmas + t.tiles * blocks_tile +
                      packing_both(t) + 2 * packing_a(t) + t.writing(written_in_blocks) +
                      moving_c(t, used);
  return shared(std::max(cost, t.from_memory(strided_read)), tasks, threads, t.rates) + blocks_call;
}

/// gemm/cpu/unpacked.
inline double unpacked(const GemmTerms& t, int threads) {
  using namespace panels;
  const double transposed = t.b_by_rows ? 0 : 4 * transposing * t.k * t.n;
  // Few accumulators wait for their last FMA.
  const double sums = std::min(t.m, tile_rows) * std::min(ceil_of(t.n / t.lanes), 2.0);
  const double of_fma = t.rates.has_few_registers ? large_tile_cycles(t) : 1;
  const double fmas = t.whole_fmas * std::max(of_fma, fma_latency * t.rates.fmas_per_cycle / sums);
  const double packed = t.n / t.lanes == ceil_of(t.n / t.lanes) ? 0 : packed_step * t.k;
  double cost = t.splitting_lines() * std::max(fmas, t.reading_b_in_place(vector_from_l2)) +
                t.tiles * unpacked_tile + transposed + packed + reading_a_in_place(t, 2 * t.lanes) +
                t.writing(written_in_tiles);
  if ((t.m * t.k + t.k * t.n) * t.size > t.rates.l2) {
    cost += (beyond_l2 - 1) * t.whole_fmas * t.rates.fmas_per_cycle;
  }
  if (t.streams_b(threads)) {
    cost = std::max(cost, (threads > 1 ? few_rows_by_strips : 1) * t.streamed_b_cycles(threads));
  }
  const bool streams = t.m <= 4 * tile_rows && t.b_by_rows;
  cost = std::max(cost, t.from_memory(streams ? blocked_read : strided_read));
  return shared(cost, ceil_of(t.n / (2 * t.lanes)), threads, t.rates) + unpacked_call;
}

/// gemm/cpu/split_k. Infinite for one thread, and for a k of fewer than two parts.
inline double split_k(const GemmTerms& t, int threads) {
  using namespace panels;
  const double parts = ceil_of(t.k / cpu::least_part_of_split_k - 1);
  if (parts < 2 || threads == 1) return infinite;
  const double sums = parts * t.m * t.n / 2;
  return shared(unpacked(t, 1) + sums, parts, threads, t.rates) + unpacked_call;
}

/// gemm/cpu/just_in_time.
inline double just_in_time(const GemmTerms& t, int threads) {
  using namespace panels;
  const double transposed = t.b_by_rows ? 0 : transposing * t.k * t.n;
  // A last strip of a vector and a half is computed as one of two.
  const bool ends_in_pair = static_cast<std::int64_t>(ceil_of(t.n / t.lanes)) % 2 == 0;
  const double fmas =
      just_in_time_tile_cycles(t) * std::max(t.fmas, ends_in_pair ? t.whole_fmas : 0);
  const double of_tile = t.rates.has_few_registers ? unrolled_tile : in_time_tile;
  constexpr double panel_column = 2048;  // bytes of a column in a panel of B
  const double columns_in_l2 = t.rates.l2 / 2 / panel_column;
  const double cost =
      std::max(fmas + t.tiles * of_tile + transposed + copied_strip_cycles(t) +
                   reading_a_just_in_time(t, columns_in_l2) + t.writing(written_in_blocks),
               t.from_memory(std::min(t.m, t.n) <= 2 * tile_rows ? strided_read : streamed_read));
  const double used = std::min(t.tiles, static_cast<double>(threads));
  if (used <= 1) return cost + in_time_call;
  const double of_busiest = ceil_of(t.tiles / used) / t.tiles;  // cpu::balanced_block() balances
  return (cost + moving_c(t, threads)) * of_busiest + t.rates.handover + in_time_call;
}

}  // namespace rung::cost
