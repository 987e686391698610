#pragma once
// Derives causes from counters: the quantity of each cause, and its threshold. The rules do not
// depend on the rungs.

#include <span>
#include <string>

#include "tools/analysis/advice.hpp"

namespace rung::analysis {

struct Rule {
  Cause cause;
  const char* quantity;
  double (*value)(const Evidence&);
  double (*threshold)(const Evidence&);
  bool (*applies)(const Evidence&);  // additional condition
  std::string (*detail)(const Evidence&, double value);
  bool too_little = false;  // below the threshold is a cause, instead of above

  bool is_cause(const Evidence& evidence) const;
  /// Larger is worse; 0 for causes with `too_little`.
  double badness(const Evidence& evidence) const;
};

/// One per cause, in the order of Cause.
std::span<const Rule> rules();

// Latencies of loads from shared memory and from L1 in cycles, from microbenchmarks for Volta to
// Hopper (Jia et al., 2018; Luo et al., 2024). A scheduler issues one FMA per cycle.
inline constexpr double shared_latency = 30;
inline constexpr double global_latency = 250;

/// The problem's number of multiply-adds, at least 1.
double multiply_adds(const Evidence& evidence);
/// The number of 4-byte words per FMA that L1 or shared memory delivers.
double words_of_l1(const Evidence& evidence);
/// True for rungs of dot and sum, and memory-bound GEMM problems.
bool streams(const Evidence& evidence);

}  // namespace rung::analysis
