#pragma once
// Cost of gemm/cpu/narrow: up to four rows or columns.

#include <algorithm>
#include <cstdint>

#include "device/cpu/cost/terms.hpp"
#include "device/cpu/narrow_kernels.hpp"
#include "device/cpu/narrow_loops.hpp"

namespace rung::cost {
namespace narrow_loops {

/// Reducing a vector to its sum; a call of the kernel that adds rows of B.
inline constexpr double reduction = 4, row_sums_call = 20;
/// Reading and writing a vector of sums.
inline constexpr double sums_of_pass = 4;
/// Per byte of B that is read again from L2, with its columns far apart.
inline constexpr double reread_near = 0.06;

/// Reading all columns of B again for each four rows of A, a part of k at a time.
inline double reread_b_cycles(const GemmTerms& t) {
  constexpr double deepest = cpu::deepest_dots, rows = cpu::few;
  const double part = t.n * std::min(t.k, deepest) * t.size, bytes = t.n * t.k * t.size;
  const double passes = ceil_of(t.m / rows);
  if (part <= t.rates.l1 / 2) return 0;
  if (part <= t.rates.l2) return reread_near * (passes - 1) * bytes;
  return bytes > t.rates.l3 / 2 ? streamed_read * passes * bytes : reread * (passes - 1) * bytes;
}

/// Dot products of contiguous rows of A and columns of B. One of the operands may be a copy.
inline double dots(const GemmTerms& t, double shorter) {
  const double steps = ceil_of(t.k / t.lanes) / t.rates.fmas_per_cycle;
  const double loads = std::min(shorter, double{cpu::few}) >= 2 ? 1 : 1.15;  // per FMA
  const double copy = t.b_by_rows && t.n > 1 ? t.n * t.k : 0;
  return std::max(t.m * t.n * steps * loads, reread_b_cycles(t)) + t.m * t.n * reduction + copy +
         t.writing(written);
}

}  // namespace narrow_loops

/// gemm/cpu/narrow. Infinite for problems that it passes on to masked_edges.
inline double narrow(const GemmTerms& t, int threads) {
  using namespace narrow_loops;
  constexpr double few = cpu::few;
  const double longer = std::max(t.m, t.n), shorter = std::min(t.m, t.n);
  const double memory = t.from_memory(streamed_read);
  const double tasks = longer * t.k / cpu::task_elements;
  const bool copies = (t.a_by_rows && t.n <= few) || (!t.b_by_rows && t.m <= few);
  if ((t.a_by_rows && !t.b_by_rows) || t.n == 1 || copies) {
    const double cost = std::max(dots(t, shorter), memory);
    return shared(cost, tasks, threads, t.rates) + masked_call;
  }
  if (shorter > few || (t.m <= few ? !t.b_by_rows : t.a_by_rows)) return infinite;
  const double vectors = ceil_of(longer / t.lanes) / t.rates.fmas_per_cycle;
  // Each pass over k reads and writes the sums.
  const auto depth = cpu::NarrowKernels<float>::depth(static_cast<std::int64_t>(shorter));
  const double passes = ceil_of(t.k / static_cast<double>(depth));
  // With few registers, elements of A are operands from memory.
  const double of_step = t.rates.has_few_registers ? shorter + 1 : std::max(shorter, 1.15);
  double cost = vectors * (t.k * of_step + passes * shorter * sums_of_pass) +
                passes * row_sums_call + (t.m <= few ? 0 : 4 * t.m * t.n);
  // Threads take parts one by one, which are then not in their L2.
  const double bytes = longer * t.k * t.size;
  const bool is_far = t.rates.fmas_per_cycle > 1 && bytes > t.rates.l2;
  if (is_far && t.rates.has_few_registers) cost += streamed_from_l2 / std::min(threads, 2) * bytes;
  const double far = is_far && !t.rates.has_few_registers ? streamed_from_memory * bytes : 0;
  constexpr double least_row = 64;  // elements of a row of C that one thread sums
  const bool splits_k = t.k >= threads * cpu::least_part_of_k(shorter, 1.0);
  const double parts = splits_k ? tasks : std::min(tasks, ceil_of(longer / least_row));
  return shared(std::max({cost, memory, far}), parts, threads, t.rates) + masked_call;
}

}  // namespace rung::cost
