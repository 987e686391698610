#pragma once
// What f32 and f64 products cost with each rung of gemm/cpu, and the cheapest.

#include <array>
#include <cstdint>
#include <span>

#include "library/cost_factors.hpp"
#include "library/rules.hpp"
#include "library/select.hpp"

namespace rung {

/// What the costs depend on. Read and measured once, at the first use, in less than a millisecond.
struct CpuRates {
  double lanes_f32, lanes_f64;  // elements per vector
  double l1, l2, l3;            // bytes
  /// The time to share a loop between two threads, in cycles; measured when the first problem is
  /// large enough for more threads than one, in at most ten milliseconds or so.
  double handover;
  double fmas_per_cycle = 1;  // of vectors: 1 or 2
  /// Whether registers hold tiles of few rows only: 16 vectors instead of 32.
  bool has_few_registers = false;
};

/// The costs of a problem in cycles. The model knows no machine by name: constants are cycles of the
/// kernels' own code, and of its reads of the caches.
class GemmCosts {
 public:
  GemmCosts(const GemmShape& shape, const CpuRates& rates);

  /// With at most that many threads.
  double cache_blocks(int threads) const;  // 06
  double direct(int threads) const;        // 07
  double split_k(int threads) const;       // 08
  double masked_edges(int threads) const;  // 11
  double just_in_time(int threads) const;  // 12
  double narrow(int threads) const;        // 13; infinite for what it passes on

 private:
  double shared(double cost, double tasks, int threads) const;
  double from_memory(double cycles_per_byte) const;
  double writing(double cycles_per_byte, int threads = 1) const;
  double packing_both() const;
  double reading_a_in_place(double columns) const;
  double reading_a_just_in_time(double columns) const;
  double reading_b_in_place(double a_vector) const;
  double splitting_lines() const;
  double copying_b() const;
  double packing_a() const;
  double short_k(int threads) const;
  bool passes_b(int threads) const;
  bool passes_a(int threads) const;
  double passing_a() const;
  bool copies_strips(int threads) const;
  bool copies_shared_sets() const;
  double passing_b(int threads) const;
  double masked_tiles(int threads) const;
  double passing_b_by() const;

  double m_, n_, k_, size_, lanes_;
  bool a_by_rows_, b_by_rows_;
  CpuRates rates_;
  double fmas_, whole_fmas_, tiles_;
};

/// The rung, on one thread, of a product in f32 or f64 that is too small for costs to pay off: they
/// take some 60 ns. Null for others. Inline: it is a few nanoseconds of some ten.
inline const Named<cpu::GemmRung>* rung_of_small(std::int64_t m, std::int64_t n, std::int64_t k,
                                                 Order a, Order b) {
  static constexpr Named<cpu::GemmRung> masked = RUNG_GEMM(11, masked_edges);
  static constexpr Named<cpu::GemmRung> narrow = RUNG_GEMM(13, narrow);
  constexpr std::int64_t longest = 1024, volume = 1 << 17;
  if (m > longest || n > longest || k > longest) return nullptr;
  const std::int64_t narrow_volume = b == Order::row_major ? 1 << 14 : 1 << 12;
  if (m * n * k > (m <= 4 || n <= 4 ? narrow_volume : volume)) return nullptr;
  // Dot products of two to four columns pay off where rows and steps of k are many enough for a copy
  // of B and the sums of vectors.
  const bool are_dots = a == Order::row_major ? 2 <= n && n <= 4 && m >= 8 * (n - 1) &&
                                                    k >= 16 * (n - 1) && m * k >= 192 * n
                                              : n == 2 && m >= 8 && k >= 40;
  const bool are_columns = (n == 1 && k >= 8) || are_dots;
  const bool is_row = m == 1 && n > 512 && k > 12;
  return are_columns || is_row ? &narrow : &masked;
}

/// For Dtype::f32 and Dtype::f64. threads: see choose_gemm().
GemmChoice cheapest_gemm(const GemmShape& shape, int threads);
GemmChoice cheapest_gemm(const GemmShape& shape, int threads, const CostFactors& factors);
/// On a machine of those rates.
GemmChoice cheapest_gemm(const GemmShape& shape, int threads, const CostFactors& factors,
                         const CpuRates& rates);

/// How many threads, of at most `threads` (0: the processors that the caller may run on), pay for
/// their hand-over where one thread takes that many cycles.
int threads_worth(double cost, int threads);

/// In seconds, on one thread, without factors; infinite for a rung that is not in question.
std::array<double, rungs_with_costs> expected_seconds(const GemmShape& shape);

/// The rungs that cheapest_gemm() chooses from.
std::span<const Named<cpu::GemmRung>> gemm_rungs_with_costs();

}  // namespace rung
