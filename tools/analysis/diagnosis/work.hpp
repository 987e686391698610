#pragma once
// The demand of a launch on each part of the device.

#include <array>

#include "tools/analysis/diagnosis/facts.hpp"
#include "tools/analysis/diagnosis/instruction_cost.hpp"

namespace rung::analysis::diagnosis {

inline constexpr double widest = 16;  // bytes per lane and access

inline double number(std::uint64_t count) { return static_cast<double>(count); }

/// The work of all SMs, in cycles of one SM.
struct Work {
  double slots = 0;
  std::array<double, pipe_count> pipes{};
  double shared = 0, l1 = 0, l2 = 0;
  double atomics = 0;  // cycles of L2, serialized
  double dram_bytes = 0;
};

Work work_of(const Facts& facts, const Cure& cure);

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

/// The number of executions of an instruction by warps, without those removed by a cure of idle
/// lanes.
double cured_executions(const SiteCount& site, const Facts& facts, const Cure& cure);

}  // namespace rung::analysis::diagnosis
