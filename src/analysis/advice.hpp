#pragma once
// What to do next: rules that turn what was counted into a cause with a name, and the rung of the
// ladder that removes it. No rule knows a rung: that one is found by counting the others as well.

#include <functional>
#include <string>
#include <vector>

#include "analysis/evidence.hpp"

namespace rung::analysis {

/// A cause that a kernel is slow, in the order in which they are worth removing: from the memory
/// that is farthest away inwards, then waits, then the machine as a whole.
enum class Cause {
  scattered_loads,       // lanes of a warp read from sectors far apart
  idle_lanes,            // lanes wait while others of their warp work
  global_loads,          // operands come from global memory for each multiply-add
  shared_loads,          // and from shared memory
  narrow_accesses,       // an instruction moves an element where it could move four
  bank_conflicts,        // lanes want different words of a bank
  shared_memory_busy,    // without conflicts, yet nearly all the time
  exposed_global_loads,  // nothing to do while tiles come from global memory
  staging_registers,     // what is on its way waits in registers
  exposed_shared_loads,  // nothing to do while operands come from shared memory
  intermediate_stores,   // what is no result goes to global memory
  host_sums,             // the CPU has the last word
  instructions,          // all else that warps issue, beside loads or tensor cores
  barriers,              // a stream of data stops at them
  few_bytes_on_the_way,  // fewer than memory has room for
  launches,              // several, where one would do
  idle_matrix_units,     // threads multiply, where matrices could be
  drained_matrix_units,  // tensor cores wait for warps in each step
  block_ends,            // nothing is multiplied while blocks begin and end
  l2_busy,               // several blocks bring the same
  thread_stores,         // who multiplies stores the results as well
  idle_multiprocessors,  // fewer blocks than the machine has places
  few_tiles,             // the same for a small C
  refused_sizes,         // problems that are no multiples of the tile
  rounding,              // not speed, but right bits
};

/// "scattered loads"
std::string name(Cause cause);

struct Finding {
  Cause cause;
  std::string detail;    // one sentence, with the numbers
  std::string quantity;  // what `value` is
  double value = 0;
  double threshold = 0;  // from which on it is a cause
};

/// Every cause that applies, in the order of Cause.
std::vector<Finding> findings(const Evidence& evidence);

/// The first rung of the ladder that is better than `evidence` in one of its findings: at most 0.8
/// times the value. `next` gives the ladder's evidence one after the other, from the rung after
/// this one on, and null at its end. Where `evidence` is of no rung, the ladder is another
/// kernel's, and one of its rungs with a cause that comes before the finding's is no help. Empty if
/// there is none.
std::string remedy(const Finding& finding, const Evidence& evidence,
                   const std::function<const Evidence*()>& next);

}  // namespace rung::analysis
