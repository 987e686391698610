#pragma once
// Totals of a kernel that can be scaled from a tile to a problem: work, traffic, and the cycles
// that each part of an SM needs for it.

#include "analysis/kernel_trace.hpp"

namespace rung::analysis {

/// Sums over a launch. Words are those that lanes request individually; cycles are those of a
/// single SM that does everything.
struct Quantities {
  double multiply_adds = 0;  // per thread
  double instructions = 0;   // per warp, of the PTX
  double idle_lanes = 0;     // inactive lanes of those instructions
  double barriers = 0;       // per warp

  double global_load_bytes = 0, global_store_bytes = 0;  // per lane
  double shared_load_bytes = 0, shared_store_bytes = 0;
  double global_load_elements = 0, global_store_elements = 0;  // of the instruction's type
  double shared_load_elements = 0, shared_store_elements = 0;
  double thread_load_bytes = 0;  // of global_load_bytes, those loaded to registers
  double staged_bytes = 0;       // stores to shared memory out of registers

  double global_requests = 0;    // loads and stores, by warps
  double global_sectors = 0;     // of these
  double bulk_sectors = 0;       // including those of bulk copies
  double scattered_sectors = 0;  // in excess of those that the same bytes need when contiguous
  double shared_requests = 0;    // as issued, with neighbouring accesses merged
  double shared_wavefronts = 0;
  double conflict_wavefronts = 0;  // in excess of conflict-free accesses
  double data_requests = 0;        // PTX instructions that move data

  /// Of the L1 cache: one 128-byte line per cycle.
  double l1_cycles = 0;
  double l1_store_cycles = 0;  // of these, by stores

  double matrix_instructions = 0;  // of `instructions`, tensor-core multiplications
  double matrix_groups = 0;        // groups that warps hand to tensor cores asynchronously,
  double matrix_drains = 0;        // and waits until none is in flight

  bool uses_matrix_units() const { return matrix_instructions > 0; }

  Quantities& operator+=(const Quantities& other);
  Quantities operator*(double factor) const;
};

/// Bulk copies count as loads and stores, too, and reads of shared memory by wgmma as loads.
/// `element_bytes`: for untyped data; `result_bytes`: for data that bulk copies store from shared
/// memory.
Quantities quantities(const KernelTrace& trace, int element_bytes, int result_bytes);

/// Extrapolates two traces at different k to a third k, linearly. Needs k1 != k2.
Quantities extrapolate(const Quantities& at_k1, double k1, const Quantities& at_k2, double k2,
                       double k);

}  // namespace rung::analysis
