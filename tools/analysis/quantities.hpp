#pragma once
// Totals of a kernel that scale from a tile to the problem: work, traffic, and the cycles that each
// part of an SM needs for them.

#include "tools/analysis/kernel_trace.hpp"

namespace rung::analysis {

/// Sums over a launch. Words are requested individually by lanes; cycles are those of a single SM
/// that does all the work.
struct Quantities {
  double multiply_adds = 0;  // per thread
  double instructions = 0;   // per warp, of the PTX

  double global_load_bytes = 0, global_store_bytes = 0;  // per lane
  double shared_load_bytes = 0, shared_store_bytes = 0;
  double global_load_elements = 0, global_store_elements = 0;  // of the instruction's type
  double shared_load_elements = 0, shared_store_elements = 0;

  double global_sectors = 0;  // of loads and stores by warps
  double bulk_sectors = 0;    // of bulk copies
  double shared_wavefronts = 0;

  /// Cycles of the L1 cache: one 128-byte line per cycle.
  double l1_cycles = 0;

  double matrix_instructions = 0;  // of `instructions`, tensor-core multiplications

  bool uses_matrix_units() const { return matrix_instructions > 0; }

  Quantities& operator+=(const Quantities& other);
  Quantities operator*(double factor) const;
};

/// Bulk copies also count as loads and stores, and wgmma's reads of shared memory as loads.
/// `element_bytes`: of untyped data; `result_bytes`: of data that bulk copies store from shared
/// memory.
Quantities quantities(const KernelTrace& trace, int element_bytes, int result_bytes);

/// Extrapolates two traces with different k linearly to a third k. Precondition: k1 != k2.
Quantities extrapolate(const Quantities& at_k1, double k1, const Quantities& at_k2, double k2,
                       double k);

}  // namespace rung::analysis
