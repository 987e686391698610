#pragma once
// Advice for rungs: rules that identify causes of low performance from counters, and the rung of
// the ladder that removes each cause. Users' kernels are diagnosed by diagnosis/diagnose.hpp.
// The rules do not depend on the rungs; remedies are found by running the other rungs as well.

#include <functional>
#include <string>
#include <vector>

#include "tools/analysis/evidence.hpp"

namespace rung::analysis {

/// The causes of a slow kernel, in the order in which to remove them: memory traffic, from the
/// highest level of the hierarchy down, then stalls, then utilization of the whole device.
enum class Cause {
  scattered_loads,       // lanes of a warp read from distant sectors
  idle_lanes,            // inactive lanes while others of their warp work
  global_loads,          // each FMA loads operands from global memory
  shared_loads,          // each FMA loads operands from shared memory
  narrow_accesses,       // an instruction moves one element instead of four
  bank_conflicts,        // lanes access different words of the same bank
  shared_memory_busy,    // no conflicts, but busy nearly all the time
  exposed_global_loads,  // the latency of global loads is not hidden
  staging_registers,     // data in flight occupies registers
  exposed_shared_loads,  // the latency of shared loads is not hidden
  intermediate_stores,   // stores to global memory other than the result
  host_sums,             // the CPU computes the final sum
  instructions,          // issue slots other than of loads and tensor-core instructions
  barriers,              // a data stream stalls at barriers
  few_bytes_on_the_way,  // fewer bytes in flight than needed to saturate memory
  launches,              // several where one suffices
  idle_matrix_units,     // CUDA cores multiply, although matrix units could
  drained_matrix_units,  // tensor cores wait for warps in each k-block
  block_ends,            // no multiplications during prologue and epilogue
  l2_busy,               // several blocks load the same data
  thread_stores,         // the warps that multiply also store the results
  idle_multiprocessors,  // fewer blocks than the device can hold
  few_tiles,             // the same for small C
  refused_sizes,         // problems that are not multiples of the tile
  rounding,              // accuracy, not speed
};

/// "scattered loads"
std::string name(Cause cause);

struct Finding {
  Cause cause;
  std::string detail;    // one sentence, with figures
  std::string quantity;  // meaning of `value`
  double value = 0;
  double threshold = 0;  // the rule applies from this value on
};

/// All causes that apply, in the order of Cause.
std::vector<Finding> findings(const Evidence& evidence);

/// The first rung of the ladder that reduces the finding's value to at most 0.8 times that of
/// `evidence`. `next` returns the evidence of the rungs after this one in turn, and null at the
/// end. Empty if no rung does.
std::string remedy(const Finding& finding, const Evidence& evidence,
                   const std::function<const Evidence*()>& next);

}  // namespace rung::analysis
