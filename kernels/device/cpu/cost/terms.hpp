#pragma once
// The terms that the costs of several CPU kernels share. Each header in this folder has the costs of one
// family of kernels; select/cpu/ compares them. All costs are in cycles. The model knows no machine by
// name: its constants are cycles of the kernels' own code and of their reads of the caches.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/dtype.hpp"
#include "device/cpu/streamed_b.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"

namespace rung {

/// A problem in the canonical form of core/problem.hpp. a and b are the storage orders of A and B.
struct GemmShape {
  Dtype dtype;
  std::int64_t m, n, k;
  Order a, b;
  ComputeMode compute_mode = ComputeMode::standard;
};

/// The machine's vectors, caches and rates.
struct CpuRates {
  double lanes_f32, lanes_f64;  // elements per vector
  double l1, l2, l3;            // bytes
  double handover;              // cycles to share a loop between two threads
  double fmas_per_cycle = 1;    // of vectors: 1 or 2
  /// True with 16 vector registers instead of 32: tiles then have few rows.
  bool has_few_registers = false;
};

namespace cost {

inline constexpr double infinite = std::numeric_limits<double>::infinity();
inline constexpr double tile_rows = 14;
/// Overhead of a tile of masked_edges around its loop over k, and of a call.
inline constexpr double masked_tile = 25, masked_call = 50;
/// Per element.
inline constexpr double transposing = 0.5;
/// Per byte of operands beyond L3, read strip by strip, a few rows at a time, and in storage order.
inline constexpr double strided_read = 0.35, blocked_read = 0.25, streamed_read = 0.19;
/// Per byte of an operand beyond L2 that is read once more: A by masked_edges for each strip of B; B by narrow.
inline constexpr double reread = 0.12;
/// Per vector of B that a tile of two vectors of unpacked or masked_edges reads from L2.
inline constexpr double vector_from_l2 = 10;
/// Per byte of a B that streams past few rows of A, from L2 and from beyond.
inline constexpr double streamed_from_l2 = 0.02, streamed_from_memory = 0.1;
/// As streamed_from_memory, for tiles of few rows.
inline constexpr double streamed_by_few_rows = 0.045;
/// Per byte of a C beyond L2 that is written block by block (cache_blocks, just_in_time, and masked_edges
/// for a short k), and of any C on a machine with one FMA per cycle.
inline constexpr double written_in_blocks = 0.075, written = 0.1;

/// std::ceil is a call on a build for the oldest instruction set.
inline double ceil_of(double value) {
  constexpr double most = 1e15;
  if (value > most) return value;
  const auto whole = static_cast<double>(static_cast<std::int64_t>(value));
  return whole < value ? whole + 1 : whole;
}

/// A loop shared by `threads` threads that has `tasks` parts.
inline double shared(double cost, double tasks, int threads, const CpuRates& rates) {
  const double used = std::min(tasks, static_cast<double>(threads));
  return used <= 1 ? cost : cost / used + rates.handover;
}

}  // namespace cost

/// An f32 or f64 problem on a machine.
struct GemmTerms {
  double m, n, k, size, lanes;  // size: bytes of an element
  bool a_by_rows, b_by_rows;
  CpuRates rates;
  /// Cycles of the FMAs, and of those of whole vectors.
  double fmas, whole_fmas;
  double tiles;  // of 14 rows and two vectors

  GemmTerms(const GemmShape& shape, const CpuRates& machine)
      : m(static_cast<double>(shape.m)),
        n(static_cast<double>(shape.n)),
        k(static_cast<double>(shape.k)),
        size(shape.dtype == Dtype::f64 ? 8 : 4),
        lanes(shape.dtype == Dtype::f64 ? machine.lanes_f64 : machine.lanes_f32),
        a_by_rows(shape.a == Order::row_major || shape.k == 1),
        b_by_rows(shape.b == Order::row_major),
        rates(machine) {
    const double vectors = cost::ceil_of(n / lanes);
    const double partial = n - (vectors - 1) * lanes;
    // Half a vector costs half if a core has two units of that width. If it starts two FMAs of whole
    // vectors per cycle, loads of A (two elements per cycle) take as long for half a vector.
    const double saved = machine.fmas_per_cycle == 1 ? 0.5 : 0.17;
    fmas = m * k * (vectors - (partial <= lanes / 2 ? saved : 0));
    // With one or two rows, each FMA waits for a load of B.
    if (m <= 2) fmas *= m == 1 ? 2 : 1.3;
    whole_fmas = m * k * vectors;
    fmas /= machine.fmas_per_cycle;
    whole_fmas /= machine.fmas_per_cycle;
    tiles = cost::ceil_of(m / cost::tile_rows) * cost::ceil_of(vectors / 2);
  }

  double a_bytes() const { return m * k * size; }
  double b_bytes() const { return k * n * size; }
  double c_bytes() const { return m * n * size; }

  /// Reading A and B from beyond L3.
  double from_memory(double cycles_per_byte) const {
    const double bytes = (m * k + k * n) * size;
    return bytes > rates.l3 / 2 ? bytes * cycles_per_byte : 0;
  }

  /// Writing a C beyond L2.
  double writing(double cycles_per_byte, int threads = 1) const {
    const double bytes = c_bytes();
    if (bytes / threads <= rates.l2) return 0;
    return bytes * (rates.fmas_per_cycle == 1 ? cost::written : cycles_per_byte);
  }

  /// Each tile reads its columns of B from L2, unless L1 holds them; tiles of few rows leave more of L1 to
  /// them. With one FMA unit, the FMAs take longer than these reads.
  double reading_b_in_place(double a_vector) const {
    const double cols = std::min(n, 2 * lanes);
    if (rates.fmas_per_cycle == 1 || rates.has_few_registers || k * cols * size < rates.l1 / 2) {
      return 0;
    }
    const double rows = m / cost::ceil_of(m / cost::tile_rows);
    return tiles * k * cost::ceil_of(cols / lanes) * a_vector * (rows / cost::tile_rows);
  }

  /// The factor by which unpacked and masked_edges are slower if rows of B do not begin with a cache line: a
  /// vector is then in two lines, and a strip in one more than it has vectors, so it fills L1 sooner. The
  /// kernel just_in_time copies B to aligned memory.
  double splitting_lines() const {
    constexpr double line = 64, in_l1 = 1.05, beyond = 1.12;
    if (rates.fmas_per_cycle == 1 || !b_by_rows) return 1;
    const double lines = n * size / line;
    if (lines == cost::ceil_of(lines)) return 1;
    if (rates.has_few_registers && n > 2 * lanes) {  // strips of two lines or more, for many tiles
      constexpr double beyond_in_place = 1.15;
      return std::min(k, 128.0) * 3 * line < rates.l1 / 2 ? in_l1 : beyond_in_place;
    }
    return k * 4 * line < rates.l1 / 2 ? in_l1 : beyond;
  }

  /// True if B streams past few rows of A (device/cpu/streamed_b.hpp), divided between threads.
  bool streams_b(int threads) const {
    return rates.fmas_per_cycle > 1 && b_by_rows &&
           cpu::streams_b_for_few_rows(b_bytes() / threads, m, rates.has_few_registers, rates.l1,
                                       rates.l2);
  }

  double streamed_b_cycles(int threads) const {
    const double bytes = b_bytes();
    return fmas + tiles * cost::masked_tile +
           (bytes / threads <= rates.l2 ? cost::streamed_from_l2
            : rates.has_few_registers   ? cost::streamed_by_few_rows
                                        : cost::streamed_from_memory) *
               bytes;
  }
};

}  // namespace rung
