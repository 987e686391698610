#pragma once
// From counters to causes: the quantity of each cause, and its threshold. The rules do not know the
// rungs.

#include <span>
#include <string>

#include "analysis/advice.hpp"

namespace rung::analysis {

struct Rule {
  Cause cause;
  const char* quantity;
  double (*value)(const Evidence&);
  double (*threshold)(const Evidence&);
  bool (*applies)(const Evidence&);  // additional condition
  std::string (*detail)(const Evidence&, double value);
  bool too_little = false;  // a cause below the threshold instead of above it

  bool is_cause(const Evidence& evidence) const;
  /// Larger is worse; 0 for causes where too little is bad.
  double badness(const Evidence& evidence) const;
};

/// In the order of Cause, one each.
std::span<const Rule> rules();

// The latencies of loads from shared memory and from L2, in cycles, from microbenchmarks for Volta
// to Hopper (Jia et al., 2018; Luo et al., 2024). A scheduler issues one FMA per cycle.
inline constexpr double shared_latency = 30;
inline constexpr double global_latency = 250;

/// Of the problem, at least 1.
double multiply_adds(const Evidence& evidence);
/// 4-byte words that L1, or shared memory, delivers per FMA.
double words_of_l1(const Evidence& evidence);
/// Rungs of dot and sum, and gemm problems that are bound by memory.
bool streams(const Evidence& evidence);

}  // namespace rung::analysis
