#include "analysis/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace rung::analysis {
namespace {

// What costs an eighth of the time that is needed anyway is worth removing.
constexpr double noticeable = 1.0 / 8;
// Beyond that share of the time, requests to shared memory queue up.
constexpr double nearly_always = 3.0 / 4;
// Words of 4 bytes that L1 or shared memory gives a multiprocessor's lanes in a cycle.
constexpr double words_a_cycle = 32;
// Cycles until a load's value is there, from shared memory and from L2, as microbenchmarks have it
// for Volta to Hopper (Jia et al., 2018; Luo et al., 2024). A scheduler issues a multiply-add a
// cycle.
constexpr double shared_latency = 30;
constexpr double global_latency = 250;
constexpr double better = 0.8;

constexpr double warp_lanes = 32;
constexpr double word_bytes = 4;

/// One rule: what it looks at, from which value on that is a cause, and what else has to be so.
struct Rule {
  Cause cause;
  const char* quantity;
  double (*value)(const Evidence&);
  double (*threshold)(const Evidence&);
  bool (*applies)(const Evidence&);
  std::string (*detail)(const Evidence&, double value);
};

double multiply_adds(const Evidence& e) { return std::max(1.0, e.quantities.multiply_adds); }

double words_of_l1(const Evidence& e) { return words_a_cycle / e.machine.multiply_adds_a_cycle(); }

/// Whether a part of the multiprocessor needs longer than what cannot be saved.
bool l1_is_behind(const Evidence& e) {
  return e.quantities.global_sectors > 0 && e.quantities.l1_cycles >= e.needed_cycles();
}
bool shared_is_behind(const Evidence& e) {
  return e.quantities.multiply_adds > 0 && e.quantities.shared_wavefronts >= e.needed_cycles();
}

/// Only kernels that compute more than they have to move can hide their loads by that.
bool computes(const Evidence& e) {
  return e.multiply_add_cycles() > e.memory_cycles() &&
         e.quantities.global_load_bytes / word_bytes < multiply_adds(e) / 2;
}

bool always(const Evidence&) { return true; }

double constant_of(double value) { return value; }

/// The access that wastes most sectors.
const Access* most_scattered(const Evidence& e) {
  const auto& accesses = e.sample.accesses;
  const auto most =
      std::max_element(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) {
        return a.scattered_sectors() < b.scattered_sectors();
      });
  return most == accesses.end() ? nullptr : &*most;
}

std::string place(const Access& access) {
  return access.where.empty() ? "" : fmt::format(" at {}", access.where);
}

std::string scattered(const Evidence& e, double) {
  const Access* access = most_scattered(e);
  const auto requests = static_cast<double>(std::max<std::uint64_t>(1, access->count.executions));
  return fmt::format(
      "a warp's {}{} touches {:.0f} sectors, where {:.0f} would hold the bytes that "
      "it wants",
      access->is_load ? "load" : "store", place(*access),
      static_cast<double>(access->count.units) / requests,
      std::max(1.0, access->moved_bytes() / requests / 32));
}

std::string idle(const Evidence&, double value) {
  return fmt::format("{:.0f} % of the lanes have nothing to do when their warp issues",
                     100 * value);
}

std::string from_global(const Evidence& e, double value) {
  return fmt::format(
      "{:.3g} words from global memory for each multiply-add{}: L1 is at work for "
      "{:.1f} times as long as the multiply-adds are",
      value, e.footprint.dram_bytes > 0 ? "" : ", which a tile could share if they recur",
      e.quantities.l1_cycles / e.multiply_add_cycles());
}

std::string from_shared(const Evidence& e, double value) {
  return fmt::format("{:.3g} words from shared memory for each multiply-add, where it has {:.2f}",
                     value, words_of_l1(e));
}

std::string narrow(const Evidence& e, double value) {
  const Quantities& q = e.quantities;
  const double bytes =
      (q.global_load_bytes + q.global_store_bytes + q.shared_load_bytes + q.shared_store_bytes) /
      (q.data_requests * warp_lanes);
  return fmt::format(
      "an access moves {:.1f} bytes a lane, of 16 that it could: accesses take {:.2f} "
      "of the slots that multiply-adds need",
      bytes, value);
}

/// The access that loses most wavefronts to bank conflicts.
const Access* most_conflicting(const Evidence& e) {
  const auto& accesses = e.sample.accesses;
  const auto most =
      std::max_element(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) {
        return a.conflict_wavefronts() < b.conflict_wavefronts();
      });
  return most == accesses.end() ? nullptr : &*most;
}

std::string conflicts(const Evidence& e, double value) {
  const Access* access = most_conflicting(e);
  const auto requests = static_cast<double>(std::max<std::uint64_t>(1, access->count.executions));
  const auto wavefronts = static_cast<double>(access->count.units);
  return fmt::format(
      "a warp's {}{} takes {:.0f} wavefronts, of which {:.0f} are for bank conflicts; "
      "conflicts take {:.2f} of the time that is needed",
      access->is_load ? "load" : "store", place(*access), wavefronts / requests,
      access->conflict_wavefronts() / requests, value);
}

std::string busy(const Evidence&, double value) {
  return fmt::format(
      "shared memory is at work for {:.2f} of the time that multiply-adds need; warps "
      "whose tile of C is nearer to a square read less of it",
      value);
}

std::string by_themselves(const Evidence&, double) {
  return std::string("each thread multiplies for itself, where its warp could multiply matrices");
}

std::string refused(const Evidence&, double value) {
  return fmt::format("m, n and k that are no multiples of {:.0f} are refused", value);
}

std::string exposed_global(const Evidence&, double value) {
  return fmt::format(
      "{:.0f} multiply-adds of a warp between a load from global memory and the use "
      "of its value, which takes {:.0f} cycles to come",
      value, global_latency);
}

std::string staging(const Evidence&, double value) {
  return fmt::format(
      "{:.3g} words for each multiply-add go to shared memory by way of registers, "
      "which hold them all the time that they are on their way",
      value);
}

std::string exposed_shared(const Evidence&, double value) {
  return fmt::format(
      "{:.0f} multiply-adds of a warp between a load from shared memory and the use "
      "of its value, which takes {:.0f} cycles to come",
      value, shared_latency);
}

std::string idle_machine(const Evidence& e, double value) {
  return fmt::format("{:.0f} blocks leave {:.0f} % of {} multiprocessors idle", e.blocks,
                     100 * value, e.machine.multiprocessors);
}

std::string few(const Evidence& e, double value) {
  return fmt::format(
      "nothing at this problem; a C of 256 x 256 makes {:.0f} blocks, which leave "
      "{:.0f} % of {} multiprocessors idle",
      e.blocks_of_few, 100 * value, e.machine.multiprocessors);
}

/// Of what has to come anyway, nothing counts.
double excess_global_words(const Evidence& e) {
  const double excess = e.quantities.global_load_bytes - e.footprint.dram_bytes;
  return std::max(0.0, excess) / word_bytes / multiply_adds(e);
}

const Rule rules[] = {
    {Cause::scattered_loads, "share of the sectors that is wasted",
     [](const Evidence& e) {
       return e.quantities.scattered_sectors / std::max(1.0, e.quantities.global_sectors);
     },
     [](const Evidence&) { return constant_of(0.5); }, l1_is_behind, scattered},
    {Cause::idle_lanes, "share of the lanes that is idle",
     [](const Evidence& e) {
       return e.quantities.idle_lanes / (warp_lanes * std::max(1.0, e.quantities.instructions));
     },
     [](const Evidence&) { return noticeable; }, always, idle},
    {Cause::global_loads, "words from global memory for each multiply-add", excess_global_words,
     words_of_l1, l1_is_behind, from_global},
    {Cause::shared_loads, "words from shared memory for each multiply-add",
     [](const Evidence& e) {
       return e.quantities.shared_load_bytes / word_bytes / multiply_adds(e);
     },
     words_of_l1, shared_is_behind, from_shared},
    {Cause::narrow_accesses, "issue slots of accesses over those of multiply-adds",
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
     narrow},
    {Cause::bank_conflicts, "cycles of bank conflicts over those that are needed",
     [](const Evidence& e) { return e.quantities.conflict_wavefronts / e.needed_cycles(); },
     [](const Evidence&) { return noticeable; }, always, conflicts},
    {Cause::shared_memory_busy, "cycles of shared memory over those that are needed",
     [](const Evidence& e) { return e.quantities.shared_wavefronts / e.needed_cycles(); },
     [](const Evidence&) { return nearly_always; }, always, busy},
    {Cause::idle_matrix_units, "share of the multiply-adds that threads do by themselves",
     [](const Evidence& e) { return e.matrix_units_idle ? 1.0 : 0.0; },
     [](const Evidence&) { return constant_of(1); }, always, by_themselves},
    {Cause::refused_sizes, "what extents must be multiples of",
     [](const Evidence& e) { return static_cast<double>(e.multiple); },
     [](const Evidence&) { return constant_of(2); }, always, refused},
};

// Waits: a value that is too small, told as what is missing.
struct Wait {
  Cause cause;
  const char* quantity;
  std::optional<double> Overlap::* distance;
  double latency;
  std::string (*detail)(const Evidence&, double value);
};

const Wait global_wait = {Cause::exposed_global_loads,
                          "multiply-adds between a global load and its use", &Overlap::global,
                          global_latency, exposed_global};
const Wait shared_wait = {Cause::exposed_shared_loads,
                          "multiply-adds between a shared load and its use", &Overlap::shared,
                          shared_latency, exposed_shared};

void add_wait(std::vector<Finding>& found, const Evidence& e, const Wait& wait) {
  const std::optional<double> distance = e.overlap.*wait.distance;
  if (!distance || *distance >= wait.latency || !computes(e)) return;
  found.push_back({wait.cause, wait.detail(e, *distance), wait.quantity, *distance, wait.latency});
}

double staged_words(const Evidence& e) {
  return e.quantities.staged_bytes / word_bytes / multiply_adds(e);
}

void add_staging(std::vector<Finding>& found, const Evidence& e) {
  const double value = staged_words(e);
  const bool through_registers = e.overlap.global.has_value() && value > 0;
  if (!through_registers || !e.has_async_copies || !computes(e)) return;
  found.push_back({Cause::staging_registers, staging(e, value),
                   "words for each multiply-add that go by way of registers", value, 0});
}

void add_idle_machine(std::vector<Finding>& found, const Evidence& e) {
  const double now = idle_share(e.blocks, e.machine.multiprocessors);
  const double small = idle_share(e.blocks_of_few, e.machine.multiprocessors);
  if (now >= noticeable) {
    found.push_back({Cause::idle_multiprocessors, idle_machine(e, now),
                     "share of idle multiprocessors", now, noticeable});
  } else if (found.empty() && small >= noticeable) {
    found.push_back(
        {Cause::few_tiles, few(e, small), "share of idle multiprocessors", small, noticeable});
  }
}

/// The quantity of a finding for another kernel, larger being worse.
double badness(Cause cause, const Evidence& e) {
  for (const Rule& rule : rules) {
    if (rule.cause == cause) return rule.value(e);
  }
  const auto missing = [&](const Wait& wait) {
    const auto distance = e.overlap.*wait.distance;
    return distance ? std::max(0.0, wait.latency - *distance) : 0.0;
  };
  switch (cause) {
    case Cause::exposed_global_loads: return missing(global_wait);
    case Cause::exposed_shared_loads: return missing(shared_wait);
    case Cause::staging_registers: return staged_words(e);
    case Cause::idle_multiprocessors: return idle_share(e.blocks, e.machine.multiprocessors);
    default: return idle_share(e.blocks_of_few, e.machine.multiprocessors);
  }
}

}  // namespace

std::string name(Cause cause) {
  constexpr std::array names = {
      "scattered loads",    "idle lanes",           "global loads",
      "shared loads",       "narrow accesses",      "bank conflicts",
      "shared memory busy", "idle matrix units",    "exposed global loads",
      "staging registers",  "exposed shared loads", "idle multiprocessors",
      "few tiles",          "refused sizes"};
  return names[static_cast<std::size_t>(cause)];
}

std::vector<Finding> findings(const Evidence& evidence) {
  std::vector<Finding> found;
  for (const Rule& rule : rules) {
    const double value = rule.value(evidence);
    const double threshold = rule.threshold(evidence);
    if (value < threshold || !rule.applies(evidence)) continue;
    found.push_back({rule.cause, rule.detail(evidence, value), rule.quantity, value, threshold});
  }
  add_wait(found, evidence, global_wait);
  add_staging(found, evidence);
  add_wait(found, evidence, shared_wait);
  add_idle_machine(found, evidence);
  return found;
}

std::string remedy(const Finding& finding, const Evidence& evidence,
                   const std::function<const Evidence*()>& next) {
  const double worst = better * badness(finding.cause, evidence);
  while (const Evidence* candidate = next()) {
    if (badness(finding.cause, *candidate) > worst) continue;
    if (evidence.is_rung) return candidate->id;
    const std::vector<Finding> theirs = findings(*candidate);
    if (theirs.empty() || theirs.front().cause >= finding.cause) return candidate->id;
  }
  return "";
}

}  // namespace rung::analysis
