#include "analysis/cause_details.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/rules.hpp"

namespace rung::analysis::details {
namespace {

/// The access that wastes the most sectors.
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

/// The access that loses the most wavefronts to bank conflicts.
const Access* most_conflicting(const Evidence& e) {
  const auto& accesses = e.sample.accesses;
  const auto most =
      std::max_element(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) {
        return a.conflict_wavefronts() < b.conflict_wavefronts();
      });
  return most == accesses.end() ? nullptr : &*most;
}

}  // namespace

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

std::string exposed_global(const Evidence&, double value) {
  return fmt::format(
      "{:.0f} multiply-adds of a warp between a load from global memory and the use "
      "of its value, which takes {:.0f} cycles to come",
      value, global_latency);
}

std::string staging(const Evidence& e, double value) {
  return fmt::format(
      "{:.3g} words for each {} registers, which hold them all the time that they are on their way",
      value, streams(e) ? "term come to" : "multiply-add go to shared memory by way of");
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
      "nothing at this problem, but C's of 256 x 256 to 2048 x 2048 leave {:.0f} % of {} "
      "multiprocessors idle on the average",
      100 * value, e.machine.multiprocessors);
}

std::string intermediate(const Evidence&, double value) {
  return fmt::format(
      "{:.2f} times as many bytes are stored to global memory, to be read again, as have to be "
      "moved",
      value);
}

std::string by_host(const Evidence&, double value) {
  return fmt::format("{:.0f} values cross a bus, for the CPU to add up once all are there", value);
}

std::string issued(const Evidence& e, double value) {
  return fmt::format(
      "warps issue instructions{} for {:.2f} of the time that is needed",
      e.uses_matrix_units() ? " that multiply nothing, to copy and to find addresses," : "", value);
}

std::string at_barriers(const Evidence&, double value) {
  return fmt::format("a warp stops at {:.2g} barriers for each 32 terms", value);
}

std::string on_the_way(const Evidence&, double value) {
  return fmt::format(
      "warps ask for {:.3g} KiB of a multiprocessor before they need the first; memory at full "
      "load would have more on its way",
      value / 1024);
}

std::string several_launches(const Evidence& e, double) {
  return fmt::format("{:.0f} launches one after the other, where one would do", e.launches);
}

std::string by_themselves(const Evidence&, double) {
  return std::string("each thread multiplies for itself, where its warp could multiply matrices");
}

std::string drained(const Evidence&, double value) {
  return fmt::format(
      "{:.0f} % of what tensor cores are given is waited for before they get more: they stand "
      "still meanwhile",
      100 * value);
}

std::string ends(const Evidence& e, double value) {
  return fmt::format(
      "a multiprocessor takes {:.1f} blocks one after the other, and multiplies nothing while one "
      "stores its results and the next waits for its first tiles: {:.3f} of the time that is "
      "needed",
      e.blocks / e.machine.multiprocessors, value);
}

std::string from_l2(const Evidence&, double value) {
  return fmt::format(
      "blocks bring what their neighbours bring as well: L2 is at work for {:.2f} of the time that "
      "multiply-adds need",
      value);
}

std::string by_threads(const Evidence&, double value) {
  return fmt::format(
      "the warps that multiply store the results themselves: {:.3f} of the time that is needed",
      value);
}

std::string refused(const Evidence&, double value) {
  return fmt::format("m, n and k that are no multiples of {:.0f} are refused", value);
}

std::string rounded(const Evidence& e, double value) {
  return fmt::format(
      "where terms cancel (condition 2^{:.0f}), {:.0f} of {} bits of the result are wrong",
      1.5 * e.precision, value, e.precision);
}

}  // namespace rung::analysis::details
