#pragma once
// Cost of gemm/cpu/masked_edges: small products, few rows or columns, a short k. The kernel's own predicates say which
// of its loops runs; where threads divide an operand, they see their part of it.

#include <algorithm>
#include <cstdint>

#include "device/cpu/copied_b.hpp"
#include "device/cpu/cost/terms.hpp"
#include "device/cpu/narrow_loops.hpp"
#include "device/cpu/short_k.hpp"
#include "device/cpu/streamed_a.hpp"
#include "device/cpu/thread_partition.hpp"

namespace rung::cost {
namespace masked {

/// Cycles per FMA of a tile of 24 accumulators, strip by strip.
inline constexpr double wide_tile_fma = 1.03;
/// Per byte of a C beyond L2, unless k is short.
inline constexpr double written_by_strips = 0.19;
/// Per vector of B from L2, in tiles of three or four vectors.
inline constexpr double wide_vector_from_l2 = 8;
/// Factor for a B that is not prefetched.
inline constexpr double unfetched_b = 1.05;
/// Per step of k of the first tile of a strip of four vectors, which copies B.
inline constexpr double copied_step = 10;
/// Steps of k in a slab.
inline constexpr double slab = 256;
// With few registers (measured with vectors of 256 bits and 32 KiB of L1):
/// Per byte of a C beyond L2; per byte of an A that is read again.
inline constexpr double written_by_few_rows = 0.05, reread_by_few_rows = 0.04;
/// Steps of k in a copy of a strip; per byte of a C beyond L2 for each further part.
inline constexpr double part_of_few_rows = 192, added_by_few_rows = 0.15;
/// Factor for a C beyond L2 whose rows split lines, with copies of strips.
inline constexpr double split_rows_of_c = 1.05;
/// Per step of k with a copy of a strip.
inline constexpr double step_of_few_rows = 2;
/// Per byte of a B beyond L2; for one or two rows.
inline constexpr double unfetched_by_few_rows = 0.25, waiting_for_strips = 0.06;

/// Row by row of C with B in registers: one store for each vector of C.
inline double short_k(const GemmTerms& t, int threads) {
  const double vectors = ceil_of(t.n / t.lanes);
  return t.m * vectors * (t.k / t.rates.fmas_per_cycle + 1) + t.writing(written_in_blocks, threads);
}

/// True if A streams past few columns of B.
inline bool streams_a(const GemmTerms& t, int threads) {
  return t.rates.fmas_per_cycle > 1 && t.a_by_rows && t.b_by_rows &&
         cpu::streams_a_for_few_columns(t.a_bytes() / threads, t.b_bytes(), t.k, t.n, t.rates.l2,
                                        t.rates.l3);
}

inline double streamed_a_cycles(const GemmTerms& t) {
  const double rows = t.n <= 2 * t.lanes ? cpu::l1_ways : 6;
  const double calls = ceil_of(t.m / rows) * ceil_of(t.k * t.size / cpu::streamed_chunk_bytes);
  const double products = t.fmas + calls * masked_tile, reading = t.from_memory(streamed_read);
  // Parts of few rows, or of few columns, end before what they prefetch has arrived.
  const bool waits = t.rates.has_few_registers || t.n <= cpu::few;
  return waits ? products + reading : std::max(products, reading);
}

/// True if strips of B are copied as they stream past dozens of rows.
inline bool copies_strips(const GemmTerms& t, int threads) {
  return t.rates.fmas_per_cycle > 1 && t.b_by_rows &&
         cpu::rows_share_copies(t.b_bytes() / threads, t.m, tile_rows, t.rates.l1, t.rates.l2);
}

/// True if rows of a strip of B share sets of L1, so that its first tile leaves a copy. With more rows, a
/// part of A does not stay where each strip can read it at once.
inline bool copies_shared_sets(const GemmTerms& t) {
  constexpr double rows_of_tile = 7, least_rows = cpu::tiles_of_copy * rows_of_tile;
  constexpr double max_rows = 192;
  if (t.rates.fmas_per_cycle == 1 || !t.b_by_rows || t.n == 0) return false;
  if (t.m < least_rows || t.m > max_rows) return false;
  return cpu::strip_shares_sets(static_cast<std::int64_t>(t.n * t.size), t.k,
                                std::min(t.n, 4 * t.lanes) * t.size);
}

/// The same with few registers.
inline bool copies_by_few_rows(const GemmTerms& t) {
  const double vectors = t.n / t.lanes;
  const bool is_aligned = vectors == ceil_of(vectors);
  return t.b_by_rows && (copies_shared_sets(t) ||
                         cpu::few_rows_share_copies(t.m, t.c_bytes(), t.rates.l2, is_aligned));
}

/// One or two rows, a part of k at a time; they wait for a B beyond L2.
inline double one_or_two_rows(const GemmTerms& t) {
  // From this length on, rows of a strip are too far apart for the hardware prefetcher.
  constexpr double long_row = 900;
  const double bytes = t.b_bytes();
  const double waiting = bytes <= t.rates.l2 ? 0
                         : t.n < long_row    ? streamed_from_l2
                                             : waiting_for_strips;
  return t.fmas + t.tiles * masked_tile + waiting * bytes;
}

/// Strip by strip, a part of k at a time, with B in place or transposed.
inline double tiles_in_place(const GemmTerms& t, int threads) {
  const double transposed = t.b_by_rows ? 0 : transposing * t.k * t.n;
  const double a_vector = t.n > 2 * t.lanes ? wide_vector_from_l2 : vector_from_l2;
  double cost = t.splitting_lines() * std::max(t.fmas, t.reading_b_in_place(a_vector)) +
                t.tiles * masked_tile + transposed + t.writing(written_by_strips, threads);
  if (t.m * std::min(t.k, slab) * t.size > t.rates.l2 / 2) {
    const double slabs = t.k <= slab ? 0 : 0.5;  // A is read in short pieces of rows
    cost += reread * std::max(ceil_of(t.n / (4 * t.lanes)) - 1, slabs) * t.m * t.k * t.size;
  }
  const bool is_b_far = t.m > 2 * tile_rows && t.b_bytes() > 4 * t.rates.l2;
  return is_b_far ? cost * unfetched_b : cost;
}

/// The same with few registers.
inline double few_rows_in_place(const GemmTerms& t, int threads) {
  const bool copies = copies_by_few_rows(t);
  const double b_bytes = t.b_bytes();
  const double strips = ceil_of(t.n / (4 * t.lanes));
  const bool splits_far_rows = t.splitting_lines() > 1 && t.c_bytes() > t.rates.l2;
  const double splitting = !copies ? t.splitting_lines() : splits_far_rows ? split_rows_of_c : 1;
  double cost =
      t.fmas * splitting + t.tiles * masked_tile + t.writing(written_by_few_rows, threads) +
      std::max(ceil_of(t.k / part_of_few_rows) - 1, 0.0) * t.writing(added_by_few_rows, threads);
  if (!t.b_by_rows) cost += transposing * t.k * t.n;
  if (t.m * std::min(t.k, slab) * t.size > t.rates.l2 / 2) {
    const bool by_pieces = t.k > slab && t.a_bytes() > t.rates.l2;
    cost += reread_by_few_rows * std::max(strips - 1, by_pieces ? 2.0 : 0.0) * t.m * t.k * t.size;
  }
  if (t.b_by_rows && b_bytes > t.rates.l2) cost += unfetched_by_few_rows * b_bytes;
  return copies ? cost + strips * t.k * step_of_few_rows : cost;
}

inline double tiles(const GemmTerms& t, int threads) {
  const bool few_registers = t.rates.has_few_registers;
  const bool has_rows = t.m >= cpu::least_rows_of_strip;
  if (t.b_by_rows && t.k <= cpu::ShortKKernels<float>::max_k && has_rows) {
    return std::max(short_k(t, threads), t.from_memory(streamed_read));
  }
  if (few_registers && t.b_by_rows && !has_rows) {
    return std::max(one_or_two_rows(t), t.from_memory(strided_read));
  }
  if (t.streams_b(threads))
    return std::max(t.streamed_b_cycles(threads), t.from_memory(blocked_read));
  if (streams_a(t, threads)) return streamed_a_cycles(t);
  const double copies = ceil_of(t.n / (4 * t.lanes)) * t.k * copied_step;
  if (copies_strips(t, threads)) {
    constexpr double part = 128;  // of k
    return std::max(wide_tile_fma * t.fmas + copies +
                        ceil_of(t.k / part) * t.writing(written_by_strips, threads),
                    t.from_memory(strided_read));
  }
  double cost = few_registers ? few_rows_in_place(t, threads) : tiles_in_place(t, threads);
  if (!few_registers && copies_shared_sets(t)) {
    cost = std::min(cost, wide_tile_fma * t.fmas + t.tiles * masked_tile + copies +
                              t.writing(written_by_strips, threads));
  }
  return std::max(cost, t.from_memory(strided_read));
}

}  // namespace masked

/// gemm/cpu/masked_edges. Threads take parts of the rows or of the columns of C (cpu::partition_among_threads()).
inline double masked_edges(const GemmTerms& t, int threads) {
  const double cost = masked::tiles(t, threads);
  const auto of_busiest = [&](double length, double unit) {
    return std::min(1.0, ceil_of(length / threads / unit) * unit / length);
  };
  const double part = std::min(of_busiest(t.m, cpu::rows_of_part), of_busiest(t.n, 2 * t.lanes));
  if (threads == 1 || part == 1) return cost + masked_call;
  return cost * part + t.rates.handover + masked_call;
}

}  // namespace rung::cost
