#pragma once
// Advice for rungs: rules that turn counters into named causes, and the rung of the ladder that
// removes each. Kernels of the user's are diagnosed (diagnosis/diagnose.hpp).
// The rules do not know the rungs; the remedy is found by running the others as well.

#include <functional>
#include <string>
#include <vector>

#include "analysis/evidence.hpp"

namespace rung::analysis {

/// The causes of a slow kernel, in the order in which they are worth removing: from the farthest
/// memory inwards, then waits, then the machine as a whole.
enum class Cause {
  scattered_loads,       // lanes of a warp read from sectors far apart
  idle_lanes,            // lanes are inactive while others of their warp work
  global_loads,          // each FMA loads operands from global memory
  shared_loads,          // each FMA loads operands from shared memory
  narrow_accesses,       // an instruction moves one element where it could move four
  bank_conflicts,        // lanes access different words of the same bank
  shared_memory_busy,    // without conflicts, but busy nearly all the time
  exposed_global_loads,  // the latency of global loads is not hidden
  staging_registers,     // data in flight occupies registers
  exposed_shared_loads,  // the latency of shared loads is not hidden
  intermediate_stores,   // stores to global memory other than the result
  host_sums,             // the CPU computes the final sum
  instructions,          // issue slots other than loads or tensor-core instructions
  barriers,              // a stream of data stops at barriers
  few_bytes_on_the_way,  // fewer than saturate memory
  launches,              // several, where one would suffice
  idle_matrix_units,     // threads multiply, where matrix units could
  drained_matrix_units,  // tensor cores wait for warps in each k-block
  block_ends,            // nothing multiplies during prologue and epilogue
  l2_busy,               // several blocks load the same data
  thread_stores,         // the multiplying warps also store the results
  idle_multiprocessors,  // fewer blocks than the device can hold
  few_tiles,             // the same for a small C
  refused_sizes,         // problems that are not multiples of the tile
  rounding,              // accuracy, not speed
};

/// "scattered loads"
std::string name(Cause cause);

struct Finding {
  Cause cause;
  std::string detail;    // one sentence, with figures
  std::string quantity;  // the meaning of `value`
  double value = 0;
  double threshold = 0;  // from which on it is a cause
};

/// Every cause that applies, in the order of Cause.
std::vector<Finding> findings(const Evidence& evidence);

/// The first rung of the ladder that improves on `evidence` in one of its findings: to at most 0.8
/// times the value. `next` returns the ladder's evidence rung by rung, from the rung after this
/// one, and null at its end. Empty if there is none.
std::string remedy(const Finding& finding, const Evidence& evidence,
                   const std::function<const Evidence*()>& next);

}  // namespace rung::analysis
