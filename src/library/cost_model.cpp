#include "library/cost_model.hpp"

#include <algorithm>
#include <cstdint>

#include "device/cpu/passing.hpp"
#include "library/cost_constants.hpp"

namespace rung {

using namespace cost;

GemmCosts::GemmCosts(const GemmShape& shape, const CpuRates& rates)
    : m_(static_cast<double>(shape.m)),
      n_(static_cast<double>(shape.n)),
      k_(static_cast<double>(shape.k)),
      size_(shape.dtype == Dtype::f64 ? 8 : 4),
      lanes_(shape.dtype == Dtype::f64 ? rates.lanes_f64 : rates.lanes_f32),
      a_by_rows_(shape.a == Order::row_major || shape.k == 1),
      b_by_rows_(shape.b == Order::row_major),
      rates_(rates) {
  const double vectors = ceil_of(n_ / lanes_);
  const double partial = n_ - (vectors - 1) * lanes_;
  // Half a vector costs half where a core has two units of that width. Where it starts two FMAs of whole
  // vectors in a cycle, loading the elements of A, two in a cycle, takes as long for half a vector.
  const double saved = rates.fmas_per_cycle == 1 ? 0.5 : 0.17;
  fmas_ = m_ * k_ * (vectors - (partial <= lanes_ / 2 ? saved : 0));
  // With one or two rows, each FMA waits for a load of B.
  if (m_ <= 2) fmas_ *= m_ == 1 ? 2 : 1.3;
  whole_fmas_ = m_ * k_ * vectors;
  fmas_ /= rates.fmas_per_cycle;
  whole_fmas_ /= rates.fmas_per_cycle;
  tiles_ = ceil_of(m_ / tile_rows) * ceil_of(vectors / 2);
}

/// Loops hand out their parts to `threads` threads, as far as there are `tasks`.
double GemmCosts::shared(double cost, double tasks, int threads) const {
  const double used = std::min(tasks, static_cast<double>(threads));
  return used <= 1 ? cost : cost / used + rates_.handover;
}

double GemmCosts::from_memory(double cycles_per_byte) const {
  const double bytes = (m_ * k_ + k_ * n_) * size_;
  return bytes > rates_.l3 / 2 ? bytes * cycles_per_byte : 0;
}

double GemmCosts::writing(double cycles_per_byte, int threads) const {
  const double bytes = m_ * n_ * size_;
  if (bytes / threads <= rates_.l2) return 0;
  return bytes * (rates_.fmas_per_cycle == 1 ? written : cycles_per_byte);
}

/// Each tile reads its columns of B from L2, unless L1 holds them; tiles of few rows leave more of L1
/// to them. The FMAs of one unit take longer.
double GemmCosts::reading_b_in_place(double a_vector) const {
  const double cols = std::min(n_, 2 * lanes_);
  if (rates_.fmas_per_cycle == 1 || rates_.has_few_registers || k_ * cols * size_ < rates_.l1 / 2) {
    return 0;
  }
  const double rows = m_ / ceil_of(m_ / tile_rows);
  return tiles_ * k_ * ceil_of(cols / lanes_) * a_vector * (rows / tile_rows);
}

/// By what 07 and 11 are slower where rows of B do not begin with a line: a vector is in two lines, and
/// a strip in one more than it has vectors, which fills L1 sooner. 12 copies B to where it is aligned.
double GemmCosts::splitting_lines() const {
  constexpr double line = 64, in_l1 = 1.05, beyond = 1.12;
  if (rates_.fmas_per_cycle == 1 || !b_by_rows_) return 1;
  const double lines = n_ * size_ / line;
  if (lines == ceil_of(lines)) return 1;
  if (rates_.has_few_registers && n_ > 2 * lanes_) {  // strips of two lines or more, for many tiles
    constexpr double beyond_in_place = 1.15;
    return std::min(k_, 128.0) * 3 * line < rates_.l1 / 2 ? in_l1 : beyond_in_place;
  }
  return k_ * 4 * line < rates_.l1 / 2 ? in_l1 : beyond;
}

/// As gemm/cpu/11 decides it, with B divided between threads.
bool GemmCosts::passes_b(int threads) const {
  return rates_.fmas_per_cycle > 1 && b_by_rows_ &&
         cpu::few_rows_meet(k_ * n_ * size_ / threads, m_, rates_.has_few_registers, rates_.l1,
                            rates_.l2);
}

double GemmCosts::passing_b(int threads) const {
  const double bytes = k_ * n_ * size_;
  return fmas_ + tiles_ * masked_tile +
         (bytes / threads <= rates_.l2 ? passing_near
          : rates_.has_few_registers   ? passing_few_rows
                                       : passing_far) *
             bytes;
}

}  // namespace rung
