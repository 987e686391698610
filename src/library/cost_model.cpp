#include "library/cost_model.hpp"

#include <algorithm>
#include <limits>

#include "device/cpu/masked_kernels.hpp"
#include "device/cpu/panels.hpp"
#include "device/cpu/passing.hpp"

namespace rung {
namespace {

constexpr double tile_rows = 14;
// Cycles of the kernels around their loops over k, and of a call.
constexpr double masked_tile = 25, masked_call = 50;
constexpr double in_time_tile = 90, in_time_call = 200;
constexpr double direct_tile = 110, direct_call = 400;
constexpr double packed_step = 12;  // of a last strip that is no whole vectors, by 07
constexpr double blocks_tile = 90, blocks_call = 1200;
constexpr double large_tile_fma = 1.015;  // 28 sums a tile, and fetching what comes next
constexpr double fma_latency = 4;
constexpr double wide_tile_fma = 1.03;  // of 24 sums, strip by strip
constexpr double reduction = 4;         // of a vector to its sum
constexpr double row_sums_call = 20;
constexpr double sums_of_pass = 4;  // to read and write a vector of sums
// Cycles per element, or per byte.
constexpr double transposing = 0.5;
constexpr double packing = 0.3;         // with writing it to L3 and reading it again
constexpr double repacking = 1.5;       // a B by columns, beyond that; of two FMAs in a cycle
constexpr double far_packing = 0.35;    // per byte of operands beyond L2, beyond that; the same
constexpr double strided_read = 0.35;   // of an operand beyond L3, strip by strip
constexpr double blocked_read = 0.25;   // a few rows at a time
constexpr double streamed_read = 0.19;  // in the order in which it is stored
constexpr double beyond_l2 = 1.2;       // 07 reads operands again from L3
constexpr double reread = 0.12;         // A by 11 for each strip of B, B by 13, where not in L2
constexpr double reread_near = 0.06;    // by 13 from L2, its columns far apart
constexpr double unfetched_b = 1.05;    // 11 fetches no B ahead of its use
constexpr double vector_from_l2 = 10,
                 wide_vector_from_l2 = 8;  // in tiles of three or four vectors by 11
// Per byte of a B that passes by few rows of A, from L2 and from beyond; with a copy, by 12.
constexpr double passing_near = 0.02, passing_far = 0.1, copying_far = 0.05;
constexpr double step_of_strip = 4, copied_step_of_strip = 10;  // of 12, of two FMAs in a cycle
constexpr double streamed_a = 0.03;  // from beyond L2 for each strip of B, of two FMAs in a cycle
constexpr double packed_a = 1;       // per element, panel by panel; of two FMAs in a cycle
constexpr double strided_a = 0.4;    // the same per element, along columns of A
constexpr double packed_columns = 0.8;  // per element, along columns, into panels of one vector
// Cycles per byte to write a C beyond L2, by 06 and 12 (tiles of a block along its rows), 11 (the same
// where k is short, else by strips of columns), and 07, measured with two FMAs in a cycle.
constexpr double written_in_blocks = 0.075, written_by_strips = 0.19, written_in_tiles = 0.165,
                 written = 0.1;

// By 11 where tiles have few rows (measured with vectors of 256 bits and 32 KiB of L1). Their FMAs hide
// more of what comes from L3, but not a C or a B beyond the core's share of it.
constexpr double cores_of_l3 = 8;
constexpr double written_by_few_rows = 0.08, written_far_by_few_rows = 0.5;
constexpr double reread_by_few_rows = 0.04, passing_few_rows = 0.045;
constexpr double unfetched_by_few_rows = 0.5;  // each byte of B beyond L2
// By 06 and 12: each byte of C, whose blocks move between cores, as 11's parts do not.
constexpr double moved_by_few_rows = 0.25;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// std::ceil is a call where only the oldest instruction set may be used.
double ceil_of(double value) {
  constexpr double most = 1e15;
  if (value > most) return value;
  const auto whole = static_cast<double>(static_cast<std::int64_t>(value));
  return whole < value ? whole + 1 : whole;
}

}  // namespace

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

double GemmCosts::moving_c(int threads) const {
  return threads > 1 && rates_.has_few_registers ? moved_by_few_rows * m_ * n_ * size_ : 0;
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

/// The first tile of a strip waits for B, and writes the copy that others read.
double GemmCosts::copying_b() const {
  if (rates_.fmas_per_cycle == 1) return 0;
  const bool is_one_tile = m_ <= tile_rows;
  const double copy =
      ceil_of(n_ / (2 * lanes_)) * k_ * (is_one_tile ? step_of_strip : copied_step_of_strip);
  const double bytes = k_ * n_ * size_;
  if (m_ > 2 * tile_rows || bytes <= rates_.l2) return copy;
  return copy + bytes * (is_one_tile ? passing_far : copying_far);
}

/// By 12, where rows of A share sets of L1 and several strips of B use them, in tiles of many rows. 06
/// takes twice as long.
double GemmCosts::packing_a() const {
  const bool is_packed = rates_.fmas_per_cycle > 1 && a_by_rows_ && m_ > cpu::l1_ways &&
                         n_ > 2 * lanes_ &&
                         cpu::shares_a_set<char>(static_cast<std::int64_t>(k_ * size_));
  return is_packed ? packed_a * m_ * k_ : 0;
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

/// Once for each `columns` of B.
double GemmCosts::reading_a_in_place(double columns) const {
  if (rates_.fmas_per_cycle == 1 || m_ * k_ * size_ <= rates_.l2) return 0;
  return ceil_of(n_ / columns) * m_ * k_ * size_ * (a_by_rows_ ? streamed_a : strided_a);
}

/// Once for each `columns` of B, in place or with packing it.
double GemmCosts::reading_a_just_in_time(double columns) const {
  const bool has_wide_strips = rates_.fmas_per_cycle > 1 && m_ >= cpu::least_rows_of_wide_strips &&
                               k_ * size_ >= cpu::least_k_bytes_of_wide_strips;
  if (!has_wide_strips) return packing_a() + reading_a_in_place(columns);
  constexpr double narrow_lanes = 8;
  if (a_by_rows_ || lanes_ != narrow_lanes) return reading_a_in_place(columns);
  return ceil_of(n_ / columns) * m_ * k_ * packed_columns;
}

double GemmCosts::packing_both() const {
  const double bytes = (m_ * k_ + k_ * n_) * size_;
  double cost = packing * bytes / 4;
  if (rates_.fmas_per_cycle == 1) return cost;
  if (!b_by_rows_) cost += repacking * k_ * n_;
  return bytes > rates_.l2 ? cost + far_packing * bytes : cost;
}

double GemmCosts::cache_blocks(int threads) const {
  const double cost = large_tile_fma * whole_fmas_ + tiles_ * blocks_tile + packing_both() +
                      2 * packing_a() + writing(written_in_blocks) + moving_c(threads);
  return shared(std::max(cost, from_memory(strided_read)), ceil_of(tiles_ / 8), threads) +
         blocks_call;
}

double GemmCosts::direct(int threads) const {
  const double transposed = b_by_rows_ ? 0 : 4 * transposing * k_ * n_;
  // Few sums wait for their last FMA.
  const double sums = std::min(m_, tile_rows) * std::min(ceil_of(n_ / lanes_), 2.0);
  const double fmas = whole_fmas_ * std::max(1.0, fma_latency * rates_.fmas_per_cycle / sums);
  const double packed = n_ / lanes_ == ceil_of(n_ / lanes_) ? 0 : packed_step * k_;
  double cost = splitting_lines() * std::max(fmas, reading_b_in_place(vector_from_l2)) +
                tiles_ * direct_tile + transposed + packed + reading_a_in_place(2 * lanes_) +
                writing(written_in_tiles);
  if ((m_ * k_ + k_ * n_) * size_ > rates_.l2) {
    cost += (beyond_l2 - 1) * whole_fmas_ * rates_.fmas_per_cycle;
  }
  if (passes_b(threads)) cost = std::max(cost, passing_b(threads));
  const bool streams = m_ <= 4 * tile_rows && b_by_rows_;
  cost = std::max(cost, from_memory(streams ? blocked_read : strided_read));
  return shared(cost, ceil_of(n_ / (2 * lanes_)), threads) + direct_call;
}

double GemmCosts::split_k(int threads) const {
  const double parts = ceil_of(k_ / 1024 - 1);
  if (parts < 2 || threads == 1) return infinite;
  const double sums = parts * m_ * n_ / 2;
  return shared(direct(1) + sums, parts, threads) + direct_call;
}

/// By rows of C, with B in registers: a store, too, for each vector of C.
double GemmCosts::short_k(int threads) const {
  const double vectors = ceil_of(n_ / lanes_);
  return m_ * vectors * (k_ / rates_.fmas_per_cycle + 1) + writing(written_in_blocks, threads);
}

/// As gemm/cpu/11 decides it, with B divided between threads.
bool GemmCosts::passes_b(int threads) const {
  return rates_.fmas_per_cycle > 1 && b_by_rows_ &&
         cpu::few_rows_meet(k_ * n_ * size_ / threads, m_, rates_.has_few_registers, rates_.l1,
                            rates_.l2);
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
  // Parts of a few rows are over before what they fetch has arrived.
  return rates_.has_few_registers ? products + reading : std::max(products, reading);
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

double GemmCosts::passing_b(int threads) const {
  const double bytes = k_ * n_ * size_;
  return fmas_ + tiles_ * masked_tile +
         (bytes / threads <= rates_.l2 ? passing_near
          : rates_.has_few_registers   ? passing_few_rows
                                       : passing_far) *
             bytes;
}

double GemmCosts::masked_tiles(int threads) const {
  constexpr double shortest = 12, least_rows = 3;
  if (b_by_rows_ && k_ <= shortest && m_ >= least_rows) {
    return std::max(short_k(threads), from_memory(streamed_read));
  }
  if (passes_b(threads)) return std::max(passing_b(threads), from_memory(blocked_read));
  if (passes_a(threads)) return passing_a();
  if (copies_strips(threads)) {
    constexpr double step = 10, slab = 128;
    const double copies = ceil_of(n_ / (4 * lanes_)) * k_ * step;
    return std::max(
        wide_tile_fma * fmas_ + copies + ceil_of(k_ / slab) * writing(written_by_strips, threads),
        from_memory(strided_read));
  }
  const double transposed = b_by_rows_ ? 0 : transposing * k_ * n_;
  constexpr double slab = 256;  // of k
  const bool few_rows = rates_.has_few_registers;
  const bool is_c_far = m_ * n_ * size_ > rates_.l3 / cores_of_l3;
  const double by_few_rows = is_c_far ? written_far_by_few_rows : written_by_few_rows;
  const double by_strips = few_rows ? by_few_rows : written_by_strips;
  const double a_vector = n_ > 2 * lanes_ ? wide_vector_from_l2 : vector_from_l2;
  double cost = splitting_lines() * std::max(fmas_, reading_b_in_place(a_vector)) +
                tiles_ * masked_tile + transposed + writing(by_strips, threads);
  const double strips = ceil_of(n_ / (4 * lanes_));
  if (m_ * std::min(k_, slab) * size_ > rates_.l2 / 2) {
    const double slabs = k_ <= slab ? 0 : few_rows ? 2 : 0.5;  // A is read by short pieces of rows
    cost +=
        (few_rows ? reread_by_few_rows : reread) * std::max(strips - 1, slabs) * m_ * k_ * size_;
  }
  if (few_rows && b_by_rows_ && k_ * n_ * size_ > rates_.l2) {
    cost += unfetched_by_few_rows * k_ * n_ * size_;
  } else if (m_ > 2 * tile_rows && k_ * n_ * size_ > 4 * rates_.l2) {
    cost *= unfetched_b;
  }
  if (copies_shared_sets()) {
    constexpr double step = 10;
    const double copies = ceil_of(n_ / (4 * lanes_)) * k_ * step;
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

double GemmCosts::just_in_time(int threads) const {
  const double transposed = b_by_rows_ ? 0 : transposing * k_ * n_;
  // A last strip of a vector and a half is computed as one of two.
  const bool ends_in_pair = static_cast<std::int64_t>(ceil_of(n_ / lanes_)) % 2 == 0;
  const double fmas = large_tile_fma * std::max(fmas_, ends_in_pair ? whole_fmas_ : 0);
  constexpr double panel_column = 2048;  // bytes of a column in a panel of B
  const double columns_in_l2 = rates_.l2 / 2 / panel_column;
  const double cost =
      std::max(fmas + tiles_ * in_time_tile + transposed + copying_b() +
                   reading_a_just_in_time(columns_in_l2) + writing(written_in_blocks),
               from_memory(std::min(m_, n_) <= 2 * tile_rows ? strided_read : streamed_read));
  const double used = std::min(tiles_, static_cast<double>(threads));
  if (used <= 1) return cost + in_time_call;
  const double of_busiest = ceil_of(tiles_ / used) / tiles_;  // as cpu::balanced_block() divides it
  return (cost + moving_c(threads)) * of_busiest + rates_.handover + in_time_call;
}

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
  const double cost = vectors * (k_ * of_step + passes * few * sums_of_pass) +
                      passes * row_sums_call + (m_ <= 4 ? 0 : 4 * m_ * n_);
  // Threads take parts one by one, which are then not in their L2.
  const double bytes = std::max(m_, n_) * k_ * size_;
  const double of_byte = rates_.has_few_registers ? passing_few_rows : passing_far;
  const double far = rates_.fmas_per_cycle > 1 && bytes > rates_.l2 ? of_byte * bytes : 0;
  return shared(std::max({cost, memory, far}), tasks, threads) + masked_call;
}

}  // namespace rung
