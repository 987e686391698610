#include "tools/learn/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "tools/analysis/overlap.hpp"

namespace rung::learn {
namespace {

using analysis::Access;
using analysis::Space;
using analysis::warp_lanes;

double ratio(double x, double of) { return of == 0 ? 0 : x / of; }
double ratio(std::uint64_t x, std::uint64_t of) {
  return ratio(static_cast<double>(x), static_cast<double>(of));
}

const vgpu::Counters& counters(const Measured& run) { return run.trace.counters; }

/// FMA instructions of warps.
double warp_fmas(const Measured& run) {
  return static_cast<double>(counters(run).ffma) / warp_lanes;
}

double warps(const Measured& run) {
  return static_cast<double>(run.trace.grid.count() * ((run.trace.block.count() + 31) / 32));
}

/// The mean bytes per lane of accesses of this kind, weighted by executions.
double bytes_of_access(const Measured& run, Space space, bool is_load) {
  double bytes = 0, executions = 0;
  for (const Access& access : run.trace.accesses) {
    if (access.space != space || access.is_load != is_load) continue;
    const auto times = static_cast<double>(access.count.executions);
    bytes += times * access.bytes;
    executions += times;
  }
  return ratio(bytes, executions);
}

double conflict_wavefronts(const Measured& run) {
  double conflicts = 0;
  for (const Access& access : run.trace.accesses) conflicts += access.conflict_wavefronts();
  return conflicts;
}

double bank_conflicts(const Measured& run) {
  const vgpu::Counters& of = counters(run);
  return 100 * ratio(conflict_wavefronts(run),
                     static_cast<double>(of.shared_load_wavefronts + of.shared_store_wavefronts));
}

double load_conflicts(const Measured& run) {
  double conflicts = 0;
  for (const Access& access : run.trace.accesses) {
    if (access.is_load) conflicts += access.conflict_wavefronts();
  }
  return 100 * ratio(conflicts, static_cast<double>(counters(run).shared_load_wavefronts));
}

double async_copies(const Measured& run) {
  double copies = 0;
  for (const Access& access : run.trace.accesses) {
    if (access.asynchronous) copies += static_cast<double>(access.count.executions);
  }
  return copies;
}

double latency_cover(const Measured& run) {
  return analysis::overlap(run.trace, *run.text).global.value_or(0);
}

constexpr std::array all = {
    Metric{"sectors_per_load", "32-byte sectors that a warp's global load touches",
           [](const Measured& run) {
             return ratio(counters(run).global_load_sectors, counters(run).global_load_requests);
           }},
    Metric{"sectors_per_store", "32-byte sectors that a warp's global store touches",
           [](const Measured& run) {
             return ratio(counters(run).global_store_sectors, counters(run).global_store_requests);
           }},
    Metric{"global_loads_per_fma", "global loads of a warp for each of its FMAs",
           [](const Measured& run) {
             return ratio(static_cast<double>(counters(run).global_load_requests), warp_fmas(run));
           }},
    Metric{"global_stores_per_fma", "global stores of a warp for each of its FMAs",
           [](const Measured& run) {
             return ratio(static_cast<double>(counters(run).global_store_requests), warp_fmas(run));
           }},
    Metric{"shared_loads_per_fma", "shared loads of a warp for each of its FMAs",
           [](const Measured& run) {
             return ratio(static_cast<double>(counters(run).shared_load_requests), warp_fmas(run));
           }},
    Metric{"wavefronts_per_fma", "wavefronts of shared loads for each FMA of a warp",
           [](const Measured& run) {
             return ratio(static_cast<double>(counters(run).shared_load_wavefronts),
                          warp_fmas(run));
           }},
    Metric{"bank_conflicts", "wavefronts lost to bank conflicts, in percent", bank_conflicts},
    Metric{"load_conflicts", "wavefronts of shared loads lost to conflicts, in percent",
           load_conflicts},
    Metric{"bytes_per_global_load", "bytes that a lane gets from a global load",
           [](const Measured& run) { return bytes_of_access(run, Space::global, true); }},
    Metric{"bytes_per_global_store", "bytes that a lane stores to global memory at a time",
           [](const Measured& run) { return bytes_of_access(run, Space::global, false); }},
    Metric{"bytes_per_shared_load", "bytes that a lane gets from a shared load",
           [](const Measured& run) { return bytes_of_access(run, Space::shared, true); }},
    Metric{"barriers_per_warp", "block-wide barriers that a warp meets",
           [](const Measured& run) {
             return ratio(static_cast<double>(counters(run).barriers), warps(run));
           }},
    Metric{"needless_barriers", "barriers or waits without which nothing goes wrong",
           [](const Measured& run) { return static_cast<double>(run.needless_barriers); }},
    Metric{
        "divergent_branches", "branches at which the lanes of a warp part",
        [](const Measured& run) { return static_cast<double>(counters(run).divergent_branches); }},
    Metric{"lanes", "lanes at work when a warp issues an instruction",
           [](const Measured& run) {
             return ratio(counters(run).thread_instructions, counters(run).instructions);
           }},
    Metric{"atomics", "atomic additions of warps",
           [](const Measured& run) { return static_cast<double>(counters(run).global_atomics); }},
    Metric{"blocks", "blocks of the grid",
           [](const Measured& run) { return static_cast<double>(run.trace.grid.count()); }},
    Metric{"instructions_per_fma", "instructions of a warp for each of its FMAs",
           [](const Measured& run) {
             return ratio(static_cast<double>(counters(run).instructions), warp_fmas(run));
           }},
    Metric{"latency_cover", "FMAs between a global load and the use of its value", latency_cover},
    Metric{
        "bytes_in_flight", "bytes that a thread requests before it uses them",
        [](const Measured& run) { return analysis::overlap(run.trace, *run.text).bytes_at_once; }},
    Metric{"async_copies", "asynchronous copies (cp.async) of warps", async_copies},
    Metric{"bulk_copies", "bulk copies or boxes of TMA",
           [](const Measured& run) { return static_cast<double>(counters(run).bulk_loads); }},
    Metric{"fmas_by_threads", "FMAs outside tensor cores, in percent of the products",
           [](const Measured& run) {
             const auto of_threads = static_cast<double>(counters(run).ffma);
             const auto of_cores = static_cast<double>(counters(run).tensor_multiply_adds);
             return 100 * ratio(of_threads, of_threads + of_cores);
           }},
    Metric{"instructions_per_1000", "warp instructions for 1000 products of tensor cores",
           [](const Measured& run) {
             return 1000 * ratio(counters(run).instructions, counters(run).tensor_multiply_adds);
           }},
    Metric{"drained_groups", "wgmma groups that the warps wait for at once, in percent",
           [](const Measured& run) {
             return 100 * ratio(run.trace.matrix_units.drains, run.trace.matrix_units.groups);
           }},
    Metric{"local_accesses", "accesses to local memory",
           [](const Measured& run) {
             return static_cast<double>(counters(run).local_load_requests +
                                        counters(run).local_store_requests);
           }},
};

}  // namespace

std::span<const Metric> metrics() { return all; }

const Metric& metric(std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Metric& known) { return name == known.name; });
  if (found == all.end()) {
    throw std::invalid_argument(fmt::format("'{}' is no metric", name));
  }
  return *found;
}

}  // namespace rung::learn
