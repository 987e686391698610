#pragma once
// What a kernel does as a whole, in numbers that can be scaled from a tile to a problem: work,
// traffic, and the clock cycles that each part of a multiprocessor needs for it.

#include "analysis/kernel_trace.hpp"

namespace rung::analysis {

/// Sums over a launch. Words are what lanes ask for, each by itself; cycles are those of one
/// multiprocessor that does all of it.
struct Quantities {
  double multiply_adds = 0;  // by threads
  double instructions = 0;   // by warps, of the PTX text
  double idle_lanes = 0;     // lanes of those instructions that do nothing
  double barriers = 0;       // by warps

  double global_load_bytes = 0, global_store_bytes = 0;  // by lanes
  double shared_load_bytes = 0, shared_store_bytes = 0;
  double global_load_elements = 0, global_store_elements = 0;  // of the instruction's type
  double shared_load_elements = 0, shared_store_elements = 0;
  double thread_load_bytes = 0;  // of global_load_bytes, what comes to registers
  double staged_bytes = 0;       // stores to shared memory out of registers

  double global_requests = 0;    // loads and stores, by warps
  double global_sectors = 0;     // theirs
  double bulk_sectors = 0;       // and those of bulk copies
  double scattered_sectors = 0;  // beyond what the same bytes would take side by side
  double shared_requests = 0;    // as issued, neighbouring accesses merged
  double shared_wavefronts = 0;
  double conflict_wavefronts = 0;  // beyond what lanes with different words take at least
  double data_requests = 0;        // instructions of the PTX text that move data

  /// Of the first-level cache: a line of 128 bytes a cycle.
  double l1_cycles = 0;
  double l1_store_cycles = 0;  // of these, those of stores

  double matrix_instructions = 0;  // of `instructions`, multiplications of tensor cores
  double matrix_groups = 0;        // that warps hand to tensor cores and go on,
  double matrix_drains = 0;        // and waits until none is left

  bool uses_matrix_units() const { return matrix_instructions > 0; }

  Quantities& operator+=(const Quantities& other);
  Quantities operator*(double factor) const;
};

/// Bulk copies are loads and stores as well, and what wgmma reads of shared memory is loaded.
/// `element_bytes`: of what is moved without a type; `result_bytes`: of that which bulk copies take
/// out of shared memory.
Quantities quantities(const KernelTrace& trace, int element_bytes, int result_bytes);

/// What two traces at different k say of a third k: everything grows by the same amount with each
/// step. Needs k1 != k2.
Quantities extrapolate(const Quantities& at_k1, double k1, const Quantities& at_k2, double k2,
                       double k);

}  // namespace rung::analysis
