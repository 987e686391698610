#pragma once
// The time of a launch: for each part of the machine its work over its rate, and the latency that
// too few warps cannot hide.

#include <array>
#include <string>
#include <vector>

#include "analysis/diagnosis/facts.hpp"

namespace rung::analysis::diagnosis {

/// One part of the machine, and how long it is busy.
struct Part {
  std::string name;
  double seconds = 0;
};

struct Time {
  std::vector<Part> parts;
  /// Parts overlap, the better the more warps an SM has.
  double seconds = 0;
  double launch = 0;  // on top of that

  double with_launch() const { return seconds + launch; }
  const Part& longest() const;
};

/// Errors of predictions for gemm rungs and the kernels of tests/analysis on an H200
/// (docs/notes/predicted-times.md): of half of them, and of nine of ten.
inline constexpr double median_error = 0.10, ninth_decile_error = 0.29;

/// The predicted time of the launch, without the faults that are cured.
Time time_of(const Facts& facts, const Cure& cure = {});

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

/// An instruction's executions by warps, without those that a cure of idle lanes removes.
double cured_executions(const SiteCount& site, const Facts& facts, const Cure& cure);

}  // namespace rung::analysis::diagnosis
