#pragma once
// The rung of gemm/cpu with which an f32 or f64 product costs least (library/cost_model.hpp).

#include <array>
#include <cstdint>
#include <span>

#include "library/cost_factors.hpp"
#include "library/cpu_rates.hpp"
#include "library/rules.hpp"
#include "library/select.hpp"

namespace rung {

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
