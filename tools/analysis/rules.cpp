#include "tools/analysis/rules.hpp"

#include <algorithm>
#include <limits>

#include "tools/analysis/cause_details.hpp"

namespace rung::analysis {
namespace {

// A cost of an eighth of the required time is worth removing.
constexpr double noticeable = 1.0 / 8;
// Above this share of the time, requests to shared memory queue.
constexpr double nearly_always = 3.0 / 4;
// The number of 4-byte words that L1 or shared memory delivers to an SM's lanes per cycle.
constexpr double words_a_cycle = 32;
// In a nearly optimal kernel, each percent of the time justifies a rung.
constexpr double slight = 1.0 / 100;
// The latency of memory at full load, in cycles: three times the unloaded latency (about 500 on
// Hopper, Luo et al., 2024).
constexpr double loaded_latency = 1500;

constexpr double word_bytes = 4;
// Without loads, nothing is waited for.
constexpr double never = std::numeric_limits<double>::infinity();

/// True if this part of the SM needs longer than the required time.
bool l1_is_too_slow(const Evidence& e) {
  return e.quantities.global_sectors > 0 && e.quantities.l1_cycles >= e.needed_cycles();
}
bool shared_is_too_slow(const Evidence& e) {
  return e.quantities.multiply_adds > 0 && e.quantities.shared_wavefronts >= e.needed_cycles();
}

/// Only compute-bound kernels can overlap their loads with FMAs.
bool computes(const Evidence& e) {
  return e.multiply_add_cycles() > e.memory_cycles() &&
         e.quantities.global_load_bytes / word_bytes < multiply_adds(e) / 2;
}

bool always(const Evidence&) { return true; }
bool multiplies_matrices(const Evidence& e) { return e.uses_matrix_units(); }

double constant_of(double value) { return value; }

/// Words loaded by threads for streams; otherwise words that threads store to shared memory.
double staged_words(const Evidence& e) {
  const Quantities& q = e.quantities;
  return (streams(e) ? q.thread_load_bytes : q.staged_bytes) / word_bytes / multiply_adds(e);
}

/// True if asynchronous copies could load shared memory directly.
bool stages_needlessly(const Evidence& e) {
  if (!e.overlap.global.has_value() || staged_words(e) <= 0) return false;
  return computes(e) ? e.has_async_copies : streams(e) && e.has_bulk_copies;
}

/// Excludes compulsory traffic.
double excess_global_words(const Evidence& e) {
  const double excess = e.quantities.global_load_bytes - e.footprint.dram_bytes;
  return std::max(0.0, excess) / word_bytes / multiply_adds(e);
}

double slots(double instructions) { return instructions / Machine::instructions_a_cycle; }

/// The idle time of an SM between a block's last product and the next block's first, relative to
/// the required time.
double ends_of_blocks(const Evidence& e) {
  const double rounds = e.blocks / e.machine.multiprocessors;
  if (!e.uses_matrix_units() || e.is_persistent || rounds <= 1 || e.resident_blocks > 1) return 0;
  // Two round trips: one to learn that the tile has arrived, and one to load it.
  const double starts = e.blocks * 2 * global_latency;
  return (starts + e.quantities.l1_store_cycles) / e.needed_cycles();
}

/// Bytes requested by an SM's resident threads; infinite for bulk copies, which always have enough
/// bytes in flight.
double bytes_on_the_way(const Evidence& e) {
  if (!e.is_stream() || e.resident_blocks == 0 || e.overlap.bytes_at_once == 0) {
    return never;
  }
  const auto threads = static_cast<double>(e.sample.block.count());
  return e.overlap.bytes_at_once * threads * e.resident_blocks;
}

double bytes_that_fill(const Evidence& e) {
  return e.machine.memory_bytes / e.machine.clock / e.machine.multiprocessors * loaded_latency;
}

constexpr Rule table[] = {
    {Cause::scattered_loads, "share of wasted sectors",
     [](const Evidence& e) {
       return e.quantities.scattered_sectors / std::max(1.0, e.quantities.global_sectors);
     },
     [](const Evidence&) { return constant_of(0.5); }, l1_is_too_slow, details::scattered},
    {Cause::idle_lanes, "share of inactive lanes",
     [](const Evidence& e) {
       return e.quantities.idle_lanes / (warp_lanes * std::max(1.0, e.quantities.instructions));
     },
     [](const Evidence&) { return noticeable; }, always, details::idle},
    {Cause::global_loads, "words from global memory per multiply-add", excess_global_words,
     words_of_l1, l1_is_too_slow, details::from_global},
    {Cause::shared_loads, "words from shared memory per multiply-add",
     [](const Evidence& e) {
       return e.quantities.shared_load_bytes / word_bytes / multiply_adds(e);
     },
     words_of_l1, shared_is_too_slow, details::from_shared},
    {Cause::narrow_accesses, "issue slots of accesses relative to multiply-adds",
     [](const Evidence& e) {
       return e.quantities.data_requests / Machine::instructions_a_cycle / e.needed_cycles();
     },
     [](const Evidence&) { return noticeable; },
     [](const Evidence& e) {
       const Quantities& q = e.quantities;
       return q.global_load_bytes + q.global_store_bytes + q.shared_load_bytes +
                  q.shared_store_bytes <
              8 * warp_lanes * q.data_requests;
     },
     details::narrow},
    {Cause::bank_conflicts, "cycles of bank conflicts relative to the required time",
     [](const Evidence& e) { return e.quantities.conflict_wavefronts / e.needed_cycles(); },
     [](const Evidence&) { return noticeable; }, always, details::conflicts},
    {Cause::shared_memory_busy, "cycles of shared memory relative to the required time",
     [](const Evidence& e) { return e.quantities.shared_wavefronts / e.needed_cycles(); },
     [](const Evidence&) { return nearly_always; }, always, details::busy},
    {Cause::exposed_global_loads, "multiply-adds between a global load and its use",
     [](const Evidence& e) { return e.overlap.global.value_or(never); },
     [](const Evidence&) { return global_latency; }, computes, details::exposed_global, true},
    {Cause::staging_registers, "words per multiply-add that pass through registers", staged_words,
     [](const Evidence&) { return constant_of(0); }, stages_needlessly, details::staging},
    {Cause::exposed_shared_loads, "multiply-adds between a shared load and its use",
     [](const Evidence& e) { return e.overlap.shared.value_or(never); },
     [](const Evidence&) { return shared_latency; }, computes, details::exposed_shared, true},
    {Cause::intermediate_stores, "intermediate bytes stored relative to the compulsory traffic",
     [](const Evidence& e) {
       const double excess = e.quantities.global_store_bytes - e.footprint.result_bytes;
       return e.footprint.dram_bytes > 0 ? std::max(0.0, excess) / e.footprint.dram_bytes : 0;
     },
     [](const Evidence&) { return noticeable; }, streams, details::intermediate},
    {Cause::host_sums, "values that the CPU adds up",
     [](const Evidence& e) { return e.host_values; },
     [](const Evidence&) { return constant_of(1); }, always, details::by_host},
    {Cause::instructions, "issue slots relative to the required time",
     [](const Evidence& e) {
       const Quantities& q = e.quantities;
       return slots(q.instructions - q.matrix_instructions) / e.needed_cycles();
     },
     [](const Evidence&) { return constant_of(0.5); },
     [](const Evidence& e) { return streams(e) || multiplies_matrices(e); }, details::issued},
    {Cause::barriers, "barriers of a warp per 32 terms",
     [](const Evidence& e) { return warp_lanes * e.quantities.barriers / multiply_adds(e); },
     [](const Evidence&) { return noticeable; }, streams, details::at_barriers},
    {Cause::few_bytes_on_the_way, "bytes in flight per SM", bytes_on_the_way, bytes_that_fill,
     streams, details::on_the_way, true},
    {Cause::launches, "launches beyond the first", [](const Evidence& e) { return e.launches - 1; },
     [](const Evidence&) { return constant_of(1); }, streams, details::several_launches},
    {Cause::idle_matrix_units, "share of multiply-adds by single threads",
     [](const Evidence& e) { return e.matrix_units_idle ? 1.0 : 0.0; },
     [](const Evidence&) { return constant_of(1); }, always, details::by_themselves},
    {Cause::drained_matrix_units, "share of wgmma groups that are waited for alone",
     [](const Evidence& e) {
       return e.quantities.matrix_drains / std::max(1.0, e.quantities.matrix_groups);
     },
     [](const Evidence&) { return noticeable; }, multiplies_matrices, details::drained},
    {Cause::block_ends, "time of prologues and epilogues relative to the required time",
     ends_of_blocks, [](const Evidence&) { return slight; }, multiplies_matrices, details::ends},
    {Cause::l2_busy, "time of L2 relative to the required time",
     [](const Evidence& e) {
       const double bytes = e.footprint.l2_bytes;
       return bytes / Machine::l2_bytes_a_cycle / e.needed_cycles();
     },
     [](const Evidence&) { return constant_of(0.5); }, multiplies_matrices, details::from_l2},
    {Cause::thread_stores, "cycles of threads' stores relative to the required time",
     [](const Evidence& e) { return e.quantities.l1_store_cycles / e.needed_cycles(); },
     [](const Evidence&) { return slight; }, multiplies_matrices, details::by_threads},
    {Cause::idle_multiprocessors, "share of idle SMs",
     [](const Evidence& e) { return idle_share(e.blocks, e.machine.multiprocessors); },
     [](const Evidence&) { return noticeable; }, always, details::idle_machine},
    {Cause::few_tiles, "share of idle SMs", [](const Evidence& e) { return e.idle_of_few; },
     [](const Evidence&) { return noticeable; }, always, details::few},
    {Cause::refused_sizes, "required divisor of the extents",
     [](const Evidence& e) { return static_cast<double>(e.multiple); },
     [](const Evidence&) { return constant_of(2); }, always, details::refused},
    {Cause::rounding, "wrong bits of the result", [](const Evidence& e) { return e.wrong_bits; },
     [](const Evidence&) { return constant_of(1); }, always, details::rounded},
};

static_assert(
    [] {
      std::size_t at = 0;
      for (const Rule& rule : table) {
        if (static_cast<std::size_t>(rule.cause) != at++) return false;
      }
      return at == static_cast<std::size_t>(Cause::rounding) + 1;
    }(),
    "in the order of Cause");

}  // namespace

bool Rule::is_cause(const Evidence& evidence) const {
  const double now = value(evidence), limit = threshold(evidence);
  return applies(evidence) && (too_little ? now < limit : now >= limit);
}

double Rule::badness(const Evidence& evidence) const {
  const double now = value(evidence);
  return too_little ? std::max(0.0, threshold(evidence) - now) : now;
}

std::span<const Rule> rules() { return table; }

double multiply_adds(const Evidence& e) { return std::max(1.0, e.quantities.multiply_adds); }

double words_of_l1(const Evidence& e) { return words_a_cycle / e.machine.multiply_adds_a_cycle(); }

bool streams(const Evidence& e) { return e.is_stream(); }

}  // namespace rung::analysis
