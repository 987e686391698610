// Costs of gemm/cpu/11: for small products, few rows or columns, and a short k.

#include <algorithm>
#include <cstdint>

#include "device/cpu/narrow_loops.hpp"
#include "device/cpu/passing.hpp"
#include "library/cost_constants.hpp"
#include "library/cost_model.hpp"

namespace rung {
namespace {

using namespace cost;

constexpr double wide_tile_fma = 1.03;      // of 24 sums, strip by strip
constexpr double written_by_strips = 0.19;  // per byte of a C beyond L2, but where k is short
constexpr double wide_vector_from_l2 = 8;   // in tiles of three or four vectors
constexpr double unfetched_b = 1.05;        // B is not fetched ahead of its use
constexpr double copied_step = 10;          // of k, by the first tile of a strip of four vectors
constexpr double slab = 256;                // of k
// Where tiles have few rows (measured with vectors of 256 bits and 32 KiB of L1).
constexpr double written_by_few_rows = 0.05, reread_by_few_rows = 0.04;
constexpr double part_of_few_rows = 192;        // of k, in a copy of a strip
constexpr double added_by_few_rows = 0.15;      // each byte of a C beyond L2 for each further part
constexpr double split_rows_of_c = 1.05;        // of a C beyond L2, with copies of strips
constexpr double step_of_few_rows = 2;          // of k, with a copy of a strip
constexpr double unfetched_by_few_rows = 0.25;  // each byte of B beyond L2
constexpr double waiting_for_strips = 0.06;     // the same for one or two rows

}  // namespace

/// By rows of C, with B in registers: a store, too, for each vector of C.
double GemmCosts::short_k(int threads) const {
  const double vectors = ceil_of(n_ / lanes_);
  return m_ * vectors * (k_ / rates_.fmas_per_cycle + 1) + writing(written_in_blocks, threads);
}

/// As gemm/cpu/11 decides it, with A divided between threads.
bool GemmCosts::passes_a(int threads) const {
  return rates_.fmas_per_cycle > 1 && a_by_rows_ && b_by_rows_ &&
         cpu::few_columns_meet(m_ * k_ * size_ / threads, k_ * n_ * size_, k_, n_, rates_.l2,
                               rates_.l3);
}

double GemmCosts::passing_a() const {
  constexpr double part_bytes = 256;  // of k
  const double rows = n_ <= 2 * lanes_ ? cpu::l1_ways : 6;
  const double calls = ceil_of(m_ / rows) * ceil_of(k_ * size_ / part_bytes);
  const double products = fmas_ + calls * masked_tile, reading = from_memory(streamed_read);
  // Parts of a few rows are over before what they fetch has arrived; so are those of few columns.
  const bool waits = rates_.has_few_registers || n_ <= cpu::few;
  return waits ? products + reading : std::max(products, reading);
}

bool GemmCosts::copies_strips(int threads) const {
  return rates_.fmas_per_cycle > 1 && b_by_rows_ &&
         cpu::rows_share_copies(k_ * n_ * size_ / threads, m_, tile_rows, rates_.l1, rates_.l2);
}

/// As 11 decides it: its first tile leaves a copy of a strip of B whose rows share sets of L1. Of more
/// rows, a part of A does not stay where each strip can read it at once.
bool GemmCosts::copies_shared_sets() const {
  constexpr double least_rows = 28, most_rows = 192;
  if (rates_.fmas_per_cycle == 1 || !b_by_rows_ || n_ == 0) return false;
  if (m_ < least_rows || m_ > most_rows) return false;
  const auto stride = static_cast<std::int64_t>(n_ * size_);
  const std::int64_t power_of_two = stride & -stride;
  const auto begins =
      static_cast<double>(std::max<std::int64_t>(1, cpu::l1_way_bytes / power_of_two));
  return begins * std::min(n_, 4 * lanes_) * size_ < cpu::l1_way_bytes &&
         k_ > begins * cpu::l1_ways;
}

/// As 11 decides it where tiles have few rows.
bool GemmCosts::copies_by_few_rows() const {
  const double vectors = n_ / lanes_;
  const bool is_aligned = vectors == ceil_of(vectors);
  return b_by_rows_ && (copies_shared_sets() ||
                        cpu::few_rows_share_copies(m_, m_ * n_ * size_, rates_.l2, is_aligned));
}

/// Of one or two rows, a part of k at a time, which wait for B where it is beyond L2.
double GemmCosts::one_or_two_rows() const {
  // From this length on, rows of a strip are too far apart for the hardware to fetch.
  constexpr double long_row = 900;
  const double bytes = k_ * n_ * size_;
  const double waiting = bytes <= rates_.l2 ? 0 : n_ < long_row ? passing_near : waiting_for_strips;
  return fmas_ + tiles_ * masked_tile + waiting * bytes;
}

/// Strip by strip, a part of k at a time, with B in place or by columns.
double GemmCosts::tiles_in_place(int threads) const {
  const double transposed = b_by_rows_ ? 0 : transposing * k_ * n_;
  const double a_vector = n_ > 2 * lanes_ ? wide_vector_from_l2 : vector_from_l2;
  double cost = splitting_lines() * std::max(fmas_, reading_b_in_place(a_vector)) +
                tiles_ * masked_tile + transposed + writing(written_by_strips, threads);
  if (m_ * std::min(k_, slab) * size_ > rates_.l2 / 2) {
    const double slabs = k_ <= slab ? 0 : 0.5;  // A is read by short pieces of rows
    cost += reread * std::max(ceil_of(n_ / (4 * lanes_)) - 1, slabs) * m_ * k_ * size_;
  }
  const bool is_b_far = m_ > 2 * tile_rows && k_ * n_ * size_ > 4 * rates_.l2;
  return is_b_far ? cost * unfetched_b : cost;
}

/// The same where tiles have few rows.
double GemmCosts::few_rows_in_place(int threads) const {
  const bool copies = copies_by_few_rows();
  const double b_bytes = k_ * n_ * size_;
  const double strips = ceil_of(n_ / (4 * lanes_));
  const bool splits_far_rows = splitting_lines() > 1 && m_ * n_ * size_ > rates_.l2;
  const double splitting = !copies ? splitting_lines() : splits_far_rows ? split_rows_of_c : 1;
  double cost =
      fmas_ * splitting + tiles_ * masked_tile + writing(written_by_few_rows, threads) +
      std::max(ceil_of(k_ / part_of_few_rows) - 1, 0.0) * writing(added_by_few_rows, threads);
  if (!b_by_rows_) cost += transposing * k_ * n_;
  if (m_ * std::min(k_, slab) * size_ > rates_.l2 / 2) {
    const bool by_pieces = k_ > slab && m_ * k_ * size_ > rates_.l2;
    cost += reread_by_few_rows * std::max(strips - 1, by_pieces ? 2.0 : 0.0) * m_ * k_ * size_;
  }
  if (b_by_rows_ && b_bytes > rates_.l2) cost += unfetched_by_few_rows * b_bytes;
  return copies ? cost + strips * k_ * step_of_few_rows : cost;
}

double GemmCosts::masked_tiles(int threads) const {
  constexpr double shortest = 12, least_rows = 3;
  const bool has_rows = m_ >= least_rows, few_registers = rates_.has_few_registers;
  if (b_by_rows_ && k_ <= shortest && has_rows) {
    return std::max(short_k(threads), from_memory(streamed_read));
  }
  if (few_registers && b_by_rows_ && !has_rows) {
    return std::max(one_or_two_rows(), from_memory(strided_read));
  }
  if (passes_b(threads)) return std::max(passing_b(threads), from_memory(blocked_read));
  if (passes_a(threads)) return passing_a();
  const double copies = ceil_of(n_ / (4 * lanes_)) * k_ * copied_step;
  if (copies_strips(threads)) {
    constexpr double part = 128;  // of k
    return std::max(
        wide_tile_fma * fmas_ + copies + ceil_of(k_ / part) * writing(written_by_strips, threads),
        from_memory(strided_read));
  }
  double cost = few_registers ? few_rows_in_place(threads) : tiles_in_place(threads);
  if (!few_registers && copies_shared_sets()) {
    cost = std::min(cost, wide_tile_fma * fmas_ + tiles_ * masked_tile + copies +
                              writing(written_by_strips, threads));
  }
  return std::max(cost, from_memory(strided_read));
}

double GemmCosts::masked_edges(int threads) const {
  const double cost = masked_tiles(threads);
  const auto of_busiest = [&](double length, double unit) {
    return std::min(1.0, ceil_of(length / threads / unit) * unit / length);
  };
  constexpr double rows = 4;
  const double part = std::min(of_busiest(m_, rows), of_busiest(n_, 2 * lanes_));
  if (threads == 1 || part == 1) return cost + masked_call;
  return cost * part + rates_.handover + masked_call;
}

}  // namespace rung
