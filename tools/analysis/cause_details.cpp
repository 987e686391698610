#include "tools/analysis/cause_details.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/analysis/rules.hpp"

namespace rung::analysis::details {
namespace {

/// The access with the most excess sectors.
const Access* max_scattered(const Evidence& e) {
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

/// The access with the most wavefronts due to bank conflicts.
const Access* max_conflicting(const Evidence& e) {
  const auto& accesses = e.sample.accesses;
  const auto most =
      std::max_element(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) {
        return a.conflict_wavefronts() < b.conflict_wavefronts();
      });
  return most == accesses.end() ? nullptr : &*most;
}

}  // namespace

std::string scattered(const Evidence& e, double) {
  const Access* access = max_scattered(e);
  const auto requests = static_cast<double>(std::max<std::uint64_t>(1, access->count.executions));
  return fmt::format(
      "a warp's {}{} accesses {:.0f} sectors; {:.0f} would hold the bytes that it uses",
      access->is_load ? "load" : "store", place(*access),
      static_cast<double>(access->count.units) / requests,
      std::max(1.0, access->moved_bytes() / requests / 32));
}

std::string idle(const Evidence&, double value) {
  return fmt::format("{:.0f} % of the lanes are inactive when their warp issues", 100 * value);
}

std::string from_global(const Evidence& e, double value) {
  return fmt::format(
      "{:.3g} words from global memory per multiply-add: L1 is busy {:.1f} times as long as the "
      "multiply-adds",
      value, e.quantities.l1_cycles / e.multiply_add_cycles());
}

std::string from_shared(const Evidence& e, double value) {
  return fmt::format("{:.3g} words from shared memory per multiply-add; it delivers {:.2f}", value,
                     words_of_l1(e));
}

std::string narrow(const Evidence& e, double value) {
  const Quantities& q = e.quantities;
  const double bytes =
      (q.global_load_bytes + q.global_store_bytes + q.shared_load_bytes + q.shared_store_bytes) /
      (q.data_requests * warp_lanes);
  return fmt::format(
      "an access moves {:.1f} of 16 possible bytes per lane: accesses take {:.2f} of the issue "
      "slots that multiply-adds need",
      bytes, value);
}

std::string conflicts(const Evidence& e, double value) {
  const Access* access = max_conflicting(e);
  const auto requests = static_cast<double>(std::max<std::uint64_t>(1, access->count.executions));
  const auto wavefronts = static_cast<double>(access->count.units);
  return fmt::format(
      "a warp's {}{} takes {:.0f} wavefronts, {:.0f} of them because of bank conflicts; conflicts "
      "take {:.2f} of the required time",
      access->is_load ? "load" : "store", place(*access), wavefronts / requests,
      access->conflict_wavefronts() / requests, value);
}

std::string busy(const Evidence&, double value) {
  return fmt::format(
      "shared memory is busy for {:.2f} of the time that multiply-adds need; warp tiles closer to "
      "a square read less of it",
      value);
}

std::string exposed_global(const Evidence&, double value) {
  return fmt::format(
      "a warp issues {:.0f} multiply-adds between a global load and the use of its value, whose "
      "latency is {:.0f} cycles",
      value, global_latency);
}

std::string staging(const Evidence& e, double value) {
  return fmt::format(
      "{:.3g} words per {} registers, which they occupy while they are in flight", value,
      streams(e) ? "term are loaded to" : "multiply-add reach shared memory through");
}

std::string exposed_shared(const Evidence&, double value) {
  return fmt::format(
      "a warp issues {:.0f} multiply-adds between a shared load and the use of its value, whose "
      "latency is {:.0f} cycles",
      value, shared_latency);
}

std::string idle_machine(const Evidence& e, double value) {
  return fmt::format("{:.0f} blocks leave {:.0f} % of {} SMs idle", e.blocks, 100 * value,
                     e.machine.multiprocessors);
}

std::string few(const Evidence& e, double value) {
  return fmt::format(
      "not for this problem, but C of 256 x 256 to 2048 x 2048 leaves {:.0f} % of {} SMs idle on "
      "average",
      100 * value, e.machine.multiprocessors);
}

std::string intermediate(const Evidence&, double value) {
  return fmt::format(
      "{:.2f} times the compulsory traffic is stored to global memory, to be read again", value);
}

std::string by_host(const Evidence&, double value) {
  return fmt::format("{:.0f} values cross the bus, for the CPU to add up when all have arrived",
                     value);
}

std::string issued(const Evidence& e, double value) {
  return fmt::format(
      "warps issue instructions{} for {:.2f} of the required time",
      e.uses_matrix_units() ? " other than multiplications, for copies and addresses," : "", value);
}

std::string at_barriers(const Evidence&, double value) {
  return fmt::format("a warp meets {:.2g} barriers per 32 terms", value);
}

std::string on_the_way(const Evidence&, double value) {
  return fmt::format(
      "the warps of an SM request {:.3g} KiB before they use the first byte; saturated memory has "
      "more in flight",
      value / 1024);
}

std::string several_launches(const Evidence& e, double) {
  return fmt::format("{:.0f} launches in sequence, where one would suffice", e.launches);
}

std::string by_themselves(const Evidence&, double) {
  return std::string("each thread multiplies by itself, although its warp could multiply matrices");
}

std::string drained(const Evidence&, double value) {
  return fmt::format(
      "for {:.0f} % of the wgmma groups, warps wait before they issue more, so tensor cores are "
      "idle meanwhile",
      100 * value);
}

std::string ends(const Evidence& e, double value) {
  return fmt::format(
      "an SM runs {:.1f} blocks in sequence, and does not multiply while one stores its results "
      "and the next waits for its first tiles: {:.3f} of the required time",
      e.blocks / e.machine.multiprocessors, value);
}

std::string from_l2(const Evidence&, double value) {
  return fmt::format(
      "neighbouring blocks load the same data: L2 is busy for {:.2f} of the time that "
      "multiply-adds "
      "need",
      value);
}

std::string by_threads(const Evidence&, double value) {
  return fmt::format("the multiplying warps also store the results: {:.3f} of the required time",
                     value);
}

std::string refused(const Evidence&, double value) {
  return fmt::format("m, n and k must be multiples of {:.0f}", value);
}

std::string rounded(const Evidence& e, double value) {
  return fmt::format(
      "if terms cancel (condition 2^{:.0f}), {:.0f} of {} bits of the result are wrong",
      1.5 * e.precision, value, e.precision);
}

}  // namespace rung::analysis::details
