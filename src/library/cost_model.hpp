#pragma once
// What f32 and f64 products cost with each rung of gemm/cpu.

#include "library/cpu_rates.hpp"
#include "library/select.hpp"

namespace rung {

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
  double moving_c(int threads) const;
  double of_large_tile() const;
  double of_tile_in_time() const;
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
  bool copies_by_few_rows() const;
  double passing_b(int threads) const;
  double one_or_two_rows() const;
  double tiles_in_place(int threads) const;
  double few_rows_in_place(int threads) const;
  double masked_tiles(int threads) const;
  double passing_b_by() const;

  double m_, n_, k_, size_, lanes_;
  bool a_by_rows_, b_by_rows_;
  CpuRates rates_;
  double fmas_, whole_fmas_, tiles_;
};

}  // namespace rung
