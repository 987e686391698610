// Costs of gemm/cpu/13: for up to four rows or columns.

#include <algorithm>

#include "device/cpu/narrow_loops.hpp"
#include "library/cost_constants.hpp"
#include "library/cost_model.hpp"

namespace rung {
namespace {

using namespace cost;

constexpr double reduction = 4;  // of a vector to its sum
constexpr double row_sums_call = 20;
constexpr double sums_of_pass = 4;    // to read and write a vector of sums
constexpr double reread_near = 0.06;  // of B from L2, its columns far apart

}  // namespace

/// All columns of B for each four rows of A, a part of k at a time.
double GemmCosts::passing_b_by() const {
  constexpr double deepest = 4096, rows = 4;
  const double part = n_ * std::min(k_, deepest) * size_;
  if (part <= rates_.l1 / 2) return 0;
  return (part <= rates_.l2 ? reread_near : reread) * (ceil_of(m_ / rows) - 1) * n_ * k_ * size_;
}

double GemmCosts::narrow(int threads) const {
  const double large = std::max(m_, n_) * k_;
  const double memory = from_memory(streamed_read);
  const double tasks = large / (1 << 14);
  const double few = std::min(m_, n_);
  const bool copies = (a_by_rows_ && n_ <= 4) || (!b_by_rows_ && m_ <= 4);
  if ((a_by_rows_ && !b_by_rows_) || n_ == 1 || copies) {
    const double steps = ceil_of(k_ / lanes_) / rates_.fmas_per_cycle;
    const double loads = std::min(few, 4.0) >= 2 ? 1 : 1.15;  // for each FMA
    const double copy = b_by_rows_ && n_ > 1 ? n_ * k_ : 0;
    const double cost = std::max(m_ * n_ * steps * loads, passing_b_by()) + m_ * n_ * reduction +
                        copy + writing(written);
    return shared(std::max(cost, memory), tasks, threads) + masked_call;
  }
  if (few > 4 || (m_ <= 4 ? !b_by_rows_ : a_by_rows_)) return infinite;
  const double vectors = ceil_of(std::max(m_, n_) / lanes_) / rates_.fmas_per_cycle;
  const double passes = ceil_of(k_ / (few <= 2 ? 12 : 8));  // each reads and writes the sums
  // With few registers, elements of A are operands from memory.
  const double of_step = rates_.has_few_registers ? few + 1 : std::max(few, 1.15);
  double cost = vectors * (k_ * of_step + passes * few * sums_of_pass) + passes * row_sums_call +
                (m_ <= 4 ? 0 : 4 * m_ * n_);
  // Threads take parts one by one, which are then not in their L2.
  const double bytes = std::max(m_, n_) * k_ * size_;
  const bool is_far = rates_.fmas_per_cycle > 1 && bytes > rates_.l2;
  if (is_far && rates_.has_few_registers) cost += passing_near / std::min(threads, 2) * bytes;
  const double far = is_far && !rates_.has_few_registers ? passing_far * bytes : 0;
  constexpr double least_row = 64;  // elements of a row of C that one thread sums
  const bool splits_k = k_ >= threads * cpu::least_part_of_k(few, 1.0);
  const double parts = splits_k ? tasks : std::min(tasks, ceil_of(std::max(m_, n_) / least_row));
  return shared(std::max({cost, memory, far}), parts, threads) + masked_call;
}

}  // namespace rung
