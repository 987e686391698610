#pragma once
// From what was counted to causes: for each one what is looked at, and from which value on it is a
// cause. No rule knows a rung.

#include <span>
#include <string>

#include "analysis/advice.hpp"

namespace rung::analysis {

struct Rule {
  Cause cause;
  const char* quantity;
  double (*value)(const Evidence&);
  double (*threshold)(const Evidence&);
  bool (*applies)(const Evidence&);  // what else has to be so
  std::string (*detail)(const Evidence&, double value);
  bool too_little = false;  // a cause below the threshold, and not from it on

  bool is_cause(const Evidence& evidence) const;
  /// Larger is worse; 0 where too little is enough.
  double badness(const Evidence& evidence) const;
};

/// In the order of Cause, one of each.
std::span<const Rule> rules();

// Cycles until a load's value is there, from shared memory and from L2, as microbenchmarks have it
// for Volta to Hopper (Jia et al., 2018; Luo et al., 2024). A scheduler issues a multiply-add a
// cycle.
inline constexpr double shared_latency = 30;
inline constexpr double global_latency = 250;

/// Of the problem, at least 1.
double multiply_adds(const Evidence& evidence);
/// Words of 4 bytes that L1, or shared memory, gives for each multiply-add.
double words_of_l1(const Evidence& evidence);
/// Rungs of dot and sum, and those of gemm that have more to move than to compute.
bool streams(const Evidence& evidence);

}  // namespace rung::analysis
