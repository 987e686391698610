#pragma once
// What the costs of gemm/cpu's rungs (library/cost_model.hpp) depend on: the machine's vectors, caches
// and rates.

namespace rung {

/// Read and measured once, at the first use, in less than a millisecond.
struct CpuRates {
  double lanes_f32, lanes_f64;  // elements per vector
  double l1, l2, l3;            // bytes
  /// The time to share a loop between two threads, in cycles; measured when the first problem is
  /// large enough for more threads than one, in at most ten milliseconds or so.
  double handover;
  double fmas_per_cycle = 1;  // of vectors: 1 or 2
  /// Whether registers hold tiles of few rows only: 16 vectors instead of 32.
  bool has_few_registers = false;
};

/// This machine's, but for `handover`, which is 0.
const CpuRates& rates_alone();

/// The same with `handover`, which the first call measures.
const CpuRates& rates_of_threads();

/// Of the clock that a core has now.
double cycle_seconds();

}  // namespace rung
