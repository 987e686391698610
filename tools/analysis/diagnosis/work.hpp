#pragma once
// The demand of a launch on each part of the device.

#include <array>

#include "tools/analysis/diagnosis/facts.hpp"
#include "tools/analysis/diagnosis/instruction_cost.hpp"

namespace rung::analysis::diagnosis {

inline constexpr double widest = 16;  // bytes per lane and access

inline double number(std::uint64_t count) { return static_cast<double>(count); }

/// The rate of tensor cores for 16-bit operands over that of FMAs, as mma reaches it.
inline constexpr double tensor_core_gain = 8;

/// The work of all SMs, in cycles of one SM.
struct Work {
  double slots = 0;
  std::array<double, pipe_count> pipes{};
  double balanced = 0;  // cycles of Pipe::integer that Pipe::multiply can take
  double shared = 0, l1 = 0, l2 = 0;
  double atomics = 0;  // cycles of L2, serialized
  double dram_bytes = 0;
};

Work work_of(const Facts& facts, const Cure& cure);

/// Blocks that an SM holds at once in this launch.
double resident_blocks(const Facts& facts);

/// The share of loads from local memory that miss L1.
double local_misses(const Facts& facts);

/// Sectors of later passes over the same data that the caches do not hold.
struct Reloads {
  double from_l2 = 0, from_dram = 0;
};
Reloads reloads_of(const Facts& facts);
/// True if most loads from global memory have an address that was loaded before.
bool has_loaded_addresses(const Facts& facts);

/// The share of requested sectors that are such passes.
double share_reloaded(const Facts& facts);

/// The minimal number of global-memory sectors for the accessed words. Compilers load only one byte
/// of an int if the others are not used.
double least_sectors(const Access& access);
double excess_sectors(const Access& access);

/// The mean number of bytes per lane over all accesses; 0 if there are no accesses.
double bytes_of_lane(const KernelTrace& trace);

/// The number of times that a block loads each byte of its sectors, and that the launch stores each
/// byte of its sectors.
double times_loaded(const Facts& facts);
double times_stored(const Facts& facts);

/// True if only one or two threads of a warp execute the instruction: always the same number,
/// unlike threads that remain in a loop after the others.
bool runs_alone(const SiteCount& site);

/// True if the warps of a block synchronize so often that they wait for each other in each step, as
/// in a tree reduction.
bool has_frequent_barriers(const Facts& facts);

/// Below this ratio of the longest chain to the mean, other warps hide it.
inline constexpr double noticeable_unevenness = 1.5;

/// The ratio of the maximum to the mean, of blocks or warps.
double unevenness(std::uint64_t most, std::uint64_t all, double of);
double unevenness_of_warps(const Facts& facts);

/// True if few lanes have work between two barriers, and little of it, as in a tree reduction.
bool is_tree(const Facts& facts);
/// True if most warps of a block wait for a few at frequent barriers.
bool waits_for_few_warps(const Facts& facts);

/// The number of executions of an instruction by warps, without those removed by a cure of idle
/// lanes.
double cured_executions(const SiteCount& site, const Facts& facts, const Cure& cure);

}  // namespace rung::analysis::diagnosis
