#pragma once
// What a launch asks of each part of the machine.

#include <array>

#include "analysis/diagnosis/facts.hpp"
#include "analysis/diagnosis/instruction_cost.hpp"

namespace rung::analysis::diagnosis {

inline constexpr double widest = 16;  // bytes of a lane's access

inline double number(std::uint64_t count) { return static_cast<double>(count); }

/// What all SMs together do, in cycles of one SM.
struct Work {
  double slots = 0;
  std::array<double, pipe_count> pipes{};
  double shared = 0, l1 = 0, l2 = 0;
  double atomics = 0;  // cycles of L2, one after the other
  double dram_bytes = 0;
};

Work work_of(const Facts& facts, const Cure& cure);

/// Of global memory, for the words that lanes access: a compiler loads a byte of an int if that is
/// all that is used.
double least_sectors(const Access& access);
double excess_sectors(const Access& access);

/// What a lane moves, the mean of all accesses; 0 if there are none.
double bytes_of_lane(const KernelTrace& trace);

/// How often a block loads each byte of the sectors that it loads from, and how often the launch
/// stores each byte of those that it stores to.
double times_loaded(const Facts& facts);
double times_stored(const Facts& facts);

/// Whether one or two threads of a warp execute the instruction while the others have nothing to
/// do: always as many, unlike those that are left in a loop after the others.
bool runs_alone(const SiteCount& site);

/// Whether the warps of a block meet so often that they wait for each other in each step, as in a
/// tree.
bool meets_barriers_often(const Facts& facts);

/// An instruction's executions by warps, without those that a cure of idle lanes removes.
double cured_executions(const SiteCount& site, const Facts& facts, const Cure& cure);

}  // namespace rung::analysis::diagnosis
